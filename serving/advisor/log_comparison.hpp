// Compares acceptance in two logs or two recordings (`speclab plan compare`).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/acceptance_file.hpp"

namespace speclab {

struct ComparisonQuestion {
  std::string first;  ///< file
  std::string second;
  LogOptions log = {};  ///< facts about both logs
  std::string request =
      {};               ///< the column or key that names a round's request; empty: a usual name, if there
  bool paired = false;  ///< the requests of both files are the same, in the same order
  int gamma = 4;        ///< drafted tokens of a round; for recordings
  double confidence = 0.95;
  double power = 0.8;
};

/// A number of both files. It is a ratio of sums, so that a request of more tokens counts more.
struct ComparedNumber {
  std::string name;
  double first = 0;
  double second = 0;
  Interval difference{0, 0, 0};      ///< second minus first
  std::optional<double> p = {};      ///< empty if the error is not known
  std::optional<double> found = {};  ///< the true difference that such files show with the asked power
};

struct ComparedFile {
  std::string file;
  std::string format;
  std::string units = {};  ///< the parts that are taken as independent, in words
  double drafted = 0;      ///< tokens a round, on average
};

struct LogComparison {
  ComparedFile first = {};
  ComparedFile second = {};
  bool paired = false;
  double confidence = 0.95;
  double power = 0.8;
  std::vector<ComparedNumber> numbers = {};    ///< alpha, if it is known, and tokens per target step
  std::vector<ComparedNumber> positions = {};  ///< accepted given those before; p after Holm's adjustment
  std::string adjusted = "The p-values of positions are Holm-adjusted; their intervals are not";
  std::vector<std::string> warnings = {};  ///< sentences
};
SPECLAB_IS_DESCRIBED(LogComparison);

/// Reads both files as `plan log` or `plan recording` do, and divides each into parts that are taken as
/// independent: sequences of a recording; requests, if the log names them; or else JSON objects, lines, 50
/// pieces of consecutive rounds, or the rounds of totals. Intervals are those of independent_difference or
/// paired_difference. Throws UsageError for files that cannot be read or compared.
LogComparison compare_logs(const ComparisonQuestion& question);

Listing comparison_text(const LogComparison& comparison);
std::string comparison_headline(const LogComparison& comparison);
/// Draws the differences of rates; none if only means are known.
std::vector<Figure> comparison_figures(const LogComparison& comparison);

}  // namespace speclab
