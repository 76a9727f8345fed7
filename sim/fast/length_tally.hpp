// Makes tallies from the accepted lengths of rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/tally.hpp"

namespace speclab {

/// Returns the tally of fast rounds with gamma drafted tokens: lengths[k] rounds accepted k tokens,
/// k = 0..gamma. `overlap` is the sum of the acceptance rates over the contexts of all emitted tokens, in
/// units of Tally::quantum.
inline Tally length_tally(std::span<const std::uint64_t> lengths, WideCount overlap) {
  const auto gamma = static_cast<std::int32_t>(lengths.size()) - 1;
  Tally tally;
  for (std::int32_t accepted = 0; accepted <= gamma; ++accepted) {
    const Round round{gamma, gamma, std::min(accepted + 1, gamma), accepted};
    tally.add_rounds(round, lengths[static_cast<std::size_t>(accepted)]);
  }
  tally.overlap_quanta = overlap;
  tally.overlap_contexts = tally.emitted;
  return tally;
}

/// Returns the tally of rounds whose acceptances are independent with one probability.
inline Tally iid_tally(std::span<const std::uint64_t> lengths, double alpha) {
  Tally tally = length_tally(lengths, 0);
  tally.overlap_quanta = WideCount{tally.emitted} * ContextSum::quanta_of(alpha);
  return tally;
}

}  // namespace speclab
