// Summarises several results: the values that papers print beside those found here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

class Summary {
 public:
  /// Adds a result; `name` is the config's, and its section's id.
  void add(const Result& result, const std::string& name);
  /// Adds a config that could not be run, and the reason.
  void add_failure(const std::string& name, const std::string& sentence);

  /// Returns each value with a verdict beside formula and simulation, then each result's agreement over all
  /// cells. Values without verdicts are in `measured_table`.
  Table table() const;
  /// Returns a row for each result, linked to its section: how many printed numbers reproduce, and how many
  /// intervals contain the formula.
  Table sections() const;
  /// Returns summary.csv: a row for each printed and measured value and for each result, numbers with all
  /// digits.
  std::string csv() const;

 private:
  struct Row {
    std::string config;
    std::optional<std::size_t> cell;  ///< index from 0; empty: the row is about all cells
    std::string label;
    std::optional<Metric> metric;
    std::string source;  ///< "paper" for values with a verdict, else the name in "measured"
    std::string printed;
    std::optional<double> formula;
    std::optional<Interval> simulated;
    std::string simulated_text;
    Cell verdict;
    std::string why;  ///< why the value measured here differs

    bool judged() const { return !cell || source == judged_source; }
  };
  static constexpr const char* judged_source = "paper";

  /// The counts of one result's verdicts.
  struct Part {
    std::string name;
    std::string title;
    std::size_t reproduce = 0, cut_off = 0, within_rounding = 0, not_found = 0;
    Agreement agreement;
    std::string outcome;  ///< set if there were no verdicts

    std::size_t judged() const { return reproduce + cut_off + within_rounding + not_found; }
  };

  std::vector<Row> rows_;
  std::vector<Part> parts_;
};

/// Returns the cells with measurements of a paper, beside the values found here and the reason why they
/// differ; may have no rows.
Table measured_table(const Result& result, const std::string& id);

}  // namespace speclab
