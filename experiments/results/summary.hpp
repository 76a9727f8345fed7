// Summarises several results: the values that a paper prints beside those that were found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

class Summary {
 public:
  /// Adds a result. `name` is the config's, and the id of its section.
  void add(const Result& result, const std::string& name);
  /// Adds a config that could not be run, and the reason.
  void add_failure(const std::string& name, const std::string& sentence);

  /// Returns each judged value beside formula and simulation, then the agreement of all cells of each result.
  /// Values that are not judged are in `measured_table`.
  Table table() const;
  /// Returns a row for each result, linked to its section of the page: how many printed numbers reproduce,
  /// and within how many intervals the formula lies.
  Table sections() const;
  /// Returns summary.csv: a row for each printed and each measured value and for each result, with numbers in
  /// full.
  std::string csv() const;

 private:
  struct Row {
    std::string config;
    std::optional<std::size_t> cell;  ///< index from 0; empty: the row is about all cells
    std::string label;
    std::optional<Metric> metric;
    std::string source;  ///< "paper" for judged values, else the name in "measured"
    std::string printed;
    std::optional<double> formula;
    std::optional<Interval> simulated;
    std::string simulated_text;
    Cell verdict;
    std::string why;  ///< reason why the value measured here differs

    bool judged() const { return !cell || source == judged_source; }
  };
  static constexpr const char* judged_source = "paper";

  /// The counts of one result's verdicts.
  struct Part {
    std::string name;
    std::string title;
    std::size_t reproduce = 0, within_rounding = 0, not_found = 0;
    Agreement agreement;
    std::string outcome;  ///< set if nothing was judged

    std::size_t judged() const { return reproduce + within_rounding + not_found; }
  };

  std::vector<Row> rows_;
  std::vector<Part> parts_;
};

/// Returns the cells that have a paper's measurements, beside the values found here and the reason why the
/// two differ; no rows if there are none.
Table measured_table(const Result& result, const std::string& id);

}  // namespace speclab
