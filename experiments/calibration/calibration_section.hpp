// The section "calibration": the tests of `speclab check`, repeated on small samples.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/check/equality_test.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

struct CalibrationSection {
  std::int32_t tokens = 2;  ///< first tokens, whose distribution is tested
  EqualityReference reference = EqualityReference::exact_distribution;
  std::uint32_t repeats = 10000;  ///< tests under the null
  std::uint32_t samples = 1000;   ///< sequences in each of them
  std::vector<RuleConfig> faults;
  std::uint32_t power_repeats = 400;  ///< tests at each point of a power curve
  std::vector<std::uint32_t> power_samples{25, 50, 100, 200, 400, 800, 1600, 3200};
  double level = 0.05;  ///< of the power curves
};

const SectionKind& calibration_section();

}  // namespace speclab
