// Every check of a printed number: one line each.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "experiments/format/config_error.hpp"
#include "experiments/verify/claims/claim_check.hpp"

// clang-format off
#define SPECLAB_CLAIM_CHECKS(ENTRY) \
  ENTRY(ratio)                      \
  ENTRY(percent_change)             \
  ENTRY(percent_saved)              \
  ENTRY(percent_of)                 \
  ENTRY(difference)                 \
  ENTRY(mean)                       \
  ENTRY(mean_gain)                  \
  ENTRY(sum_over)                   \
  ENTRY(length_by_positions)        \
  ENTRY(length_by_conditional)      \
  ENTRY(length_by_counts)           \
  ENTRY(length_by_rate)             \
  ENTRY(length_within_rate)         \
  ENTRY(accepted_by_rate)           \
  ENTRY(rate_with_bonus)            \
  ENTRY(geometric_length)           \
  ENTRY(independent_length)         \
  ENTRY(longer_draft)               \
  ENTRY(minimum_variance_rate)      \
  ENTRY(same_first_rate)            \
  ENTRY(speed_at_most)              \
  ENTRY(speed_within_rate)          \
  ENTRY(time_at_least)              \
  ENTRY(gain_at_equal_cost)         \
  ENTRY(goodput)                    \
  ENTRY(cost_by_emitted)            \
  ENTRY(independent_experts)        \
  ENTRY(overlap)                    \
  ENTRY(expected_accepted)          \
  ENTRY(at_most_block)              \
  ENTRY(anticipating_truncation)
// clang-format on

namespace speclab {

#define SPECLAB_DECLARE_CLAIM_CHECK(name) ClaimCheck name##_check();
SPECLAB_CLAIM_CHECKS(SPECLAB_DECLARE_CLAIM_CHECK)

Family<ClaimCheck>& claim_check_family() {
  static Family<ClaimCheck> family("check", "Checks of printed numbers", nullptr,
                                   [](Family<ClaimCheck>& made) {
#define SPECLAB_ADD_CLAIM_CHECK(name) made.add(name##_check());
                                     SPECLAB_CLAIM_CHECKS(SPECLAB_ADD_CLAIM_CHECK)
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
    throw ConfigError(path, fmt::format("{}; correct the inputs, or say why the number cannot be decided "
                                        "(\"undecided\")",
                                        error.what()));
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
