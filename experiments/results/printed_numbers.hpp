// What became of the numbers that papers print: in a sentence, and as a figure.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Verdicts and agreements of one result or of several.
class PrintedNumbers {
 public:
  /// `name` is told of its numbers: the config's.
  void add(const Result& result, const std::string& name = "");

  /// "36 of 40 printed numbers reproduce, 1 within the rounding of its inputs; 3 do not. The formula lies
  /// within 358 of 360 intervals." Empty when nothing was judged.
  std::string sentence() const;
  /// Each printed number, and how far from it the formula (else the simulation) lies, in halves of the unit
  /// of its last digit, by which the verdict goes; none without printed numbers.
  std::vector<Figure> figures() const;

 private:
  struct Judged {
    std::string name;   ///< config, cell and metric, and both numbers
    std::string label;  ///< of the cell, its beginning
    double printed;
    double half_unit;  ///< of its last digit
    double found;
    Reproduction verdict;
  };
  std::vector<Judged> judged_;
  Agreement agreement_;
};

}  // namespace speclab
