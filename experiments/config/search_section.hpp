// The section "search": how far the experiment optimal_gamma and `speclab exact` look for the best gamma.
#pragma once

#include <cstdint>

namespace speclab {

struct SearchSection {
  std::int32_t max_gamma = 16;  ///< largest gamma tried
};

}  // namespace speclab
