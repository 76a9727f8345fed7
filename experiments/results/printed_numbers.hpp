// Summarises how many printed numbers of papers reproduce, as a sentence and a figure.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// The verdicts and agreements of one result or of several.
class PrintedNumbers {
 public:
  /// Adds a result; `name`, the config's, prefixes the names of its numbers.
  void add(const Result& result, const std::string& name = "");

  /// Returns "36 of 40 printed numbers reproduce, 1 within the rounding of its inputs; 3 do not. The formula
  /// lies within 358 of 360 intervals."; empty if there were no verdicts.
  std::string sentence() const;
  /// Returns a figure of each printed number's distance to the formula (without one, to the simulation), in
  /// half-units of the printed number's last digit, which decide the verdict. None without printed numbers.
  std::vector<Figure> figures() const;

 private:
  struct Judged {
    std::string name;   ///< config, cell and metric, and both numbers
    std::string label;  ///< beginning of the cell's label
    double printed;
    double half_unit;  ///< half a unit of its last digit
    double found;
    Reproduction verdict;
  };
  std::vector<Judged> judged_;
  Agreement agreement_;
};

}  // namespace speclab
