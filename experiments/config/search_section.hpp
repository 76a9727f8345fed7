// The section "search": the range of gamma in which the experiment optimal_gamma and `speclab exact` look for
// the best one.
#pragma once

#include <cstdint>

namespace speclab {

struct SearchSection {
  std::int32_t max_gamma = 16;  ///< largest gamma tried
};

}  // namespace speclab
