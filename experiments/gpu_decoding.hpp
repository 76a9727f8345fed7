// Decoding on any backend: plans and tables become what the simulating kernels are given, and their counts
// become the outcome that the CPU's own loops have.
#pragma once

#include <cstdint>

#include "experiments/backend.hpp"
#include "kernels/simulate/simulate.hpp"
#include "sim/control.hpp"
#include "sim/simulation_size.hpp"
#include "sim/fast/fast_pair.hpp"

namespace speclab {

/// What the kernels are to do for decode_iid and for QuickPair::decode. The pair is of stored tables, and
/// must outlive the run.
IidRun iid_run(double alpha, std::int32_t gamma, const Plan& plan);
TableRun table_run(const QuickPair& pair, std::int32_t gamma, const Plan& plan);

/// decode_iid and QuickPair::decode (of stored tables) on any backend. A stopped run on the GPU has the
/// launches so far, each of whole rounds. Throws std::runtime_error when the device refuses.
Outcome decode_iid_on(Backend backend, double alpha, std::int32_t gamma, const Plan& plan,
                      const Control& control);
Outcome decode_pair_on(Backend backend, const QuickPair& pair, std::int32_t gamma, const Plan& plan,
                       const Control& control);

}  // namespace speclab
