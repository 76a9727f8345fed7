// The section "check": the test of `speclab check`.
#pragma once

#include <cstdint>

#include "experiments/config/config.hpp"

namespace speclab {

struct CheckSection {
  std::int32_t tokens = 3;         ///< first tokens, whose joint distribution is compared
  std::uint32_t samples = 200000;  ///< sequences from each decoder
  double level = 1e-6;             ///< chance of a false alarm
  double power = 0.99;             ///< at which the detectable effect is stated
};

const SectionKind& check_section();

}  // namespace speclab
