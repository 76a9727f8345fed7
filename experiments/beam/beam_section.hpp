// The section "beam": the searches of the experiment "beam".
#pragma once

#include <cstdint>

#include "experiments/config/config.hpp"
#include "sim/beam_search.hpp"

namespace speclab {

struct BeamSection {
  std::uint32_t width = 4;         ///< sequences that the target keeps
  std::uint32_t draft_width = 16;  ///< sequences that the draft keeps
  std::uint32_t length = 32;       ///< steps, one token for every sequence
  BeamAcceptance acceptance = BeamAcceptance::contained;
};

const SectionKind& beam_section();

}  // namespace speclab
