// Collects the checks of printed numbers from the files of checks/.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/verify/claims/claim_check.hpp"

namespace speclab {

std::vector<ClaimCheck> ratio_checks();
std::vector<ClaimCheck> length_checks();
std::vector<ClaimCheck> cost_checks();
std::vector<ClaimCheck> law_checks();

Family<ClaimCheck>& claim_check_family() {
  static Family<ClaimCheck> family(
      "check", "Checks of printed numbers", nullptr, [](Family<ClaimCheck>& made) {
        for (const auto checks : {ratio_checks, length_checks, cost_checks, law_checks}) {
          for (ClaimCheck& check : checks()) made.add(std::move(check));
        }
      });
  return family;
}

AllowedRange checked_range(const std::vector<PrintedNumber*>& inputs, const std::function<Allowed()>& formula,
                           const std::string& path) {
  try {
    const AllowedRange range = allowed_range(inputs, formula);
    for (const double end :
         {range.as_printed.least, range.as_printed.most, range.rounded.least, range.rounded.most}) {
      if (std::isnan(end)) throw std::invalid_argument("the formula has no value for these inputs");
    }
    if (std::isinf(range.as_printed.least) && std::isinf(range.as_printed.most)) {
      throw std::invalid_argument("the formula divides by 0 for these inputs");
    }
    return range;
  } catch (const std::invalid_argument& error) {
    throw ConfigError(path,
                      "{}; correct the inputs, or say why the number cannot be decided "
                      "(\"undecided\")",
                      error.what());
  }
}

double sum_of(const std::vector<PrintedNumber>& numbers) {
  double sum = 0;
  for (const PrintedNumber& one : numbers) sum += one;
  return sum;
}

double mean_of(const std::vector<PrintedNumber>& numbers) {
  if (numbers.empty()) throw std::invalid_argument("the mean of an empty list");
  return sum_of(numbers) / static_cast<double>(numbers.size());
}

}  // namespace speclab
