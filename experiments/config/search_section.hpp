// The section "search": the range of gamma that the experiment optimal_gamma and `speclab exact` search.
#pragma once

#include <cstdint>

namespace speclab {

struct SearchSection {
  std::int32_t max_gamma = 16;  ///< largest gamma tried
};

}  // namespace speclab
