// Rounds whose tokens are accepted independently with probability alpha: the number of accepted tokens has a
// geometric distribution cut off at gamma (Leviathan et al. 2023, section 3.1), and one 64-bit number decides
// it.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random/philox.hpp"
#include "core/round/batches.hpp"

namespace speclab {

/// Returns gamma thresholds. Entry k is alpha^(k+1) * 2^64, rounded and limited to 64 bits. The round accepts
/// at least k + 1 tokens if its number lies below entry k, so each probability is exact to 2^-64 beyond its
/// own rounding. Probability 1 is encoded as the largest 64-bit number, so it fails once in 2^64. Host only.
inline std::vector<std::uint64_t> iid_thresholds(double alpha, std::int32_t gamma) {
  std::vector<std::uint64_t> thresholds;
  double power = 1;
  for (std::int32_t k = 0; k < gamma; ++k) {
    power *= alpha;
    const double scaled = std::round(power * 0x1p64);
    thresholds.push_back(scaled >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(scaled));
  }
  return thresholds;
}

/// Returns the number of drafted tokens that a round accepts: the number of thresholds above `word`.
/// Thresholds are non-increasing.
SPECLAB_HD inline std::int32_t iid_accepted(std::uint64_t word, const std::uint64_t* thresholds,
                                            std::int32_t gamma) {
  std::int32_t accepted = 0;
  while (accepted < gamma && word < thresholds[accepted]) ++accepted;
  return accepted;
}

/// Returns the two words of block b of a trial, for its rounds 2 b and 2 b + 1. The block's number takes the
/// round's place in the site.
SPECLAB_HD inline PhiloxWords iid_words(std::uint64_t seed, std::uint32_t trial, std::uint32_t block) {
  return philox_words(seed, 0, use_and_slot({Use::iid, 0}), block, trial);
}

/// Returns the block of one round. Rounds and blocks are counted over all trials of `length` rounds each;
/// trials do not share blocks.
SPECLAB_HD inline std::uint64_t iid_block(std::uint64_t round, std::uint32_t length) {
  const std::uint64_t blocks_a_trial = (std::uint64_t{length} + 1) / 2;
  return round / length * blocks_a_trial + round % length / 2;
}

/// Returns the number of blocks that the rounds of a piece use.
SPECLAB_HD inline std::uint64_t iid_blocks(const Piece& piece, std::uint32_t length) {
  return piece.rounds() == 0 ? 0 : iid_block(piece.end - 1, length) - iid_block(piece.begin, length) + 1;
}

}  // namespace speclab
