// Decoding on any backend: simulations and tables become what the simulating kernels are given, and their
// counts become the outcome that the CPU's own loops have.
#pragma once

#include <cstdint>

#include "experiments/run/backend.hpp"
#include "sim/control.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// decode_iid and FastPair::decode (of stored tables) on any backend. A stopped run on the GPU has the
/// launches so far, each of whole rounds. Throws std::runtime_error when the device refuses.
Outcome decode_iid_on(Backend backend, double alpha, std::int32_t gamma, const SimulationSize& simulation,
                      const Control& control);
Outcome decode_pair_on(Backend backend, const FastPair& pair, std::int32_t gamma,
                       const SimulationSize& simulation, const Control& control);

}  // namespace speclab
