// The summary of several results: what a paper prints beside what was found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

class Summary {
 public:
  /// `name` is the config's, and the id of its section.
  void add(const Result& result, const std::string& name);
  /// A config that could not be run, and why.
  void add_failure(const std::string& name, const std::string& sentence);

  /// Each judged value beside formula and simulation, then the agreement of all cells of each result. What is
  /// not judged stands in `measured_table`.
  Table table() const;
  /// A row for each result, which leads to its section of the page: how many printed numbers reproduce, and
  /// within how many intervals the formula lies.
  Table sections() const;
  /// summary.csv: a row for each printed and each measured value and for each result, numbers in full.
  std::string csv() const;

 private:
  struct Row {
    std::string config;
    std::optional<std::size_t> cell;  ///< from 0; none: the row is of all cells
    std::string label;
    std::optional<Metric> metric;
    std::string source;  ///< "paper" of what is judged, else the name in "measured"
    std::string printed;
    std::optional<double> formula;
    std::optional<Interval> simulated;
    std::string simulated_text;
    Cell verdict;
    std::string why;  ///< what is measured here differs

    bool judged() const { return !cell || source == judged_source; }
  };
  static constexpr const char* judged_source = "paper";

  /// What became of a result.
  struct Part {
    std::string name;
    std::string title;
    std::size_t reproduce = 0, within_rounding = 0, not_found = 0;
    Agreement agreement;
    std::string outcome;  ///< where nothing was judged

    std::size_t judged() const { return reproduce + within_rounding + not_found; }
  };

  std::vector<Row> rows_;
  std::vector<Part> parts_;
};

/// The cells for which a paper's measurements are given, beside what was found of them, and why the two
/// differ; without rows where there are none.
Table measured_table(const Result& result, const std::string& id);

}  // namespace speclab
