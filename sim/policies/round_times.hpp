// The time of a round by the number of tokens drafted, for policies that weigh gain against cost.
#pragma once

#include <algorithm>
#include <vector>

namespace speclab {

/// times[k] is the time of a round with k drafted tokens, drafting and verification, in target runs without
/// drafts; at least one entry, all > 0. Larger k use the last entry.
struct RoundTimes {
  std::vector<double> times;

  double operator()(std::int32_t drafted) const {
    return times[std::min(static_cast<std::size_t>(drafted), times.size() - 1)];
  }
};

}  // namespace speclab
