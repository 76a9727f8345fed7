// Doubles a simulation without repeating it: because random numbers are addressed by trial and round, the
// first half of a simulation with twice the trials is the original one.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "sim/simulation_size.hpp"

namespace speclab {

/// Returns a size that can be doubled: an even number of batches of equally many complete trials. Trials are
/// rounded up. size.trials >= 2.
inline SimulationSize doubling_size(SimulationSize size) {
  assert(size.trials >= 2);
  size.batches = std::min(size.batches, size.trials) / 2 * 2;
  size.trials = (size.trials + size.batches - 1) / size.batches * size.batches;
  return size;
}

/// Returns the second half of a simulation with twice the trials.
inline SimulationSize second_half_of_double(SimulationSize size) {
  size.trials *= 2;
  size.only = {size.batches / 2, size.batches};
  return size;
}

/// Adds the outcome of a simulation to that of the second half of its double. Each batch of the double holds
/// two of the original's batches.
inline void add_first_half(const Outcome& first, Outcome& second) {
  assert(first.batches.size() == second.batches.size() && first.batches.size() % 2 == 0);
  for (std::size_t batch = 0; batch < first.batches.size(); ++batch)
    second.batches[batch / 2] += first.batches[batch];
  second.work += first.work;
  second.partial = second.partial || first.partial;
}

}  // namespace speclab
