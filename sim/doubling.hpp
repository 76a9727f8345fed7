// Simulations that grow: random numbers are addressed by trial and round, so that the first half of a
// simulation of twice the trials is the simulation itself.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "sim/sequence_decode.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// A size that can be doubled: an even number of batches, each of equally many whole trials, which are
/// rounded up to that. At least two trials.
inline SimulationSize doubling_size(SimulationSize size) {
  assert(size.trials >= 2);
  size.batches = std::min(size.batches, size.trials) / 2 * 2;
  size.trials = (size.trials + size.batches - 1) / size.batches * size.batches;
  return size;
}

/// The second half of a simulation of twice the trials.
inline SimulationSize second_half_of_double(SimulationSize size) {
  size.trials *= 2;
  size.only = {size.batches / 2, size.batches};
  return size;
}

/// The first `count` of these sequences, of which the second half is still to be decoded when the first was.
inline SequenceSet first_sequences(const SequenceSet& all, std::size_t count, bool second_half) {
  assert(count <= all.sequences.size());
  SequenceSet set{
      .seed = all.seed, .sequences = {}, .batches = all.batches, .first = second_half ? count / 2 : 0};
  set.sequences.assign(all.sequences.begin(), all.sequences.begin() + static_cast<std::ptrdiff_t>(count));
  return set;
}

/// Adds what the simulation gave to the second half of its double: each batch of the double has two of its.
inline void add_first_half(const Outcome& first, Outcome& second) {
  assert(first.batches.size() == second.batches.size() && first.batches.size() % 2 == 0);
  for (std::size_t batch = 0; batch < first.batches.size(); ++batch)
    second.batches[batch / 2] += first.batches[batch];
  second.work += first.work;
  second.partial = second.partial || first.partial;
}

}  // namespace speclab
