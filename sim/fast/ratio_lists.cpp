#include "sim/fast/ratio_lists.hpp"

#include <cassert>
#include <limits>

namespace speclab {

void RatioLists::fill(const RatioList& list, std::span<PairedProbability> entries) {
  assert(entries.size() == list.size);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto ratio = [](const PairedProbability& of) {
    return of.draft > 0 ? of.target / of.draft : infinite;
  };
  std::sort(entries.begin(), entries.end(), [&](const PairedProbability& a, const PairedProbability& b) {
    const double left = ratio(a);
    const double right = ratio(b);
    return left < right || (left == right && a.token < b.token);
  });
  Sums sums{0, 0};
  ratios_[list.first + list.size] = infinite;
  sums_[list.first + list.size] = sums;
  for (std::uint32_t i = list.size; i-- > 0;) {
    const std::uint64_t at = list.first + i;
    sums.target += entries[i].target;
    sums.draft += entries[i].draft;
    ratios_[at] = ratio(entries[i]);
    sums_[at] = sums;
    if (at < tokens_.size()) tokens_[at] = entries[i].token;
  }
}

}  // namespace speclab
