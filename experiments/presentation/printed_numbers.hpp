// What became of the numbers that papers print: in a sentence, and as a figure.
#pragma once

#include <string>
#include <vector>

#include "experiments/report/figure.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Verdicts and agreements of one result or of several.
class PrintedNumbers {
 public:
  void add(const Result& result);

  /// "36 of 40 printed numbers reproduce, 1 within the rounding of its inputs; 3 do not. The formula lies
  /// within 358 of 360 intervals." Empty when nothing was judged.
  std::string sentence() const;
  /// Each printed number, and how far from it the formula (else the simulation) lies; none without printed
  /// numbers.
  std::vector<Figure> figures() const;

 private:
  struct Judged {
    std::string label;
    double printed;
    double found;
    Reproduction verdict;
  };
  std::vector<Judged> judged_;
  Agreement agreement_;
};

}  // namespace speclab
