// Decodes on any backend: converts simulations and tables to the input of the CUDA kernels, and their counts
// to the outcome of the CPU's own loops.
#pragma once

#include <cstdint>

#include "experiments/run/backend.hpp"
#include "sim/control.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Run decode_iid and FastPair::decode (stored tables) on any backend. A stopped run on the GPU has the
/// results of the launches so far, each of whole rounds. Throw std::runtime_error if the device fails.
Outcome decode_iid_on(Backend backend, double alpha, std::int32_t gamma, const SimulationSize& simulation,
                      const Control& control);
Outcome decode_pair_on(Backend backend, const FastPair& pair, std::int32_t gamma,
                       const SimulationSize& simulation, const Control& control);

}  // namespace speclab
