// Cuts the rounds of a run into batches (for confidence intervals), and batches into pieces (units of work
// for a thread or a GPU block). Rounds are counted over all trials: trial * length + round.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace speclab {

/// Cuts the `total` rounds, a multiple of `unit`, into consecutive batches. Batches begin and end at
/// multiples of `unit`, so that with a unit of one trial no trial is split. Their sizes differ by at most one
/// unit. There are at most total / unit batches, because an empty batch would count as an observation.
struct BatchCut {
  std::uint64_t total;
  std::uint32_t batches;
  std::uint64_t unit = 1;

  SPECLAB_HD std::uint64_t units() const { return total / unit; }

  /// Returns the number of batches that have rounds.
  SPECLAB_HD std::uint32_t count() const {
    return batches < units() ? batches : static_cast<std::uint32_t>(units());
  }

  SPECLAB_HD std::uint32_t batch_of(std::uint64_t round) const {
    const std::uint64_t at = round / unit;
    const std::uint64_t size = units() / batches;
    const std::uint64_t longer = units() % batches;  // the first `longer` batches have one unit more
    const std::uint64_t in_longer = longer * (size + 1);
    return static_cast<std::uint32_t>(at < in_longer ? at / (size + 1) : longer + (at - in_longer) / size);
  }

  SPECLAB_HD std::uint64_t begin(std::uint32_t batch) const {
    const std::uint64_t longer = units() % batches;
    return (batch * (units() / batches) + (batch < longer ? batch : longer)) * unit;
  }
  SPECLAB_HD std::uint64_t end(std::uint32_t batch) const { return begin(batch) + size(batch); }
  SPECLAB_HD std::uint64_t size(std::uint32_t batch) const {
    return (units() / batches + (batch < units() % batches ? 1 : 0)) * unit;
  }
};

inline constexpr std::uint64_t max_piece_rounds = 1U << 20U;

/// Rounds begin..end-1 of one batch; none if begin >= end.
struct Piece {
  std::uint32_t batch;
  std::uint64_t begin;
  std::uint64_t end;

  SPECLAB_HD std::uint64_t rounds() const { return begin < end ? end - begin : 0; }
};

/// Returns the number of pieces into which the batches are cut. The first pieces of all batches come before
/// any second piece, so that a stopped run has some rounds of each batch.
SPECLAB_HD inline std::uint64_t piece_count(const BatchCut& cut) {
  return (cut.size(0) + max_piece_rounds - 1) / max_piece_rounds * cut.count();
}

SPECLAB_HD inline Piece piece_at(const BatchCut& cut, std::uint64_t index) {
  const std::uint32_t batches = cut.count();
  const auto batch = static_cast<std::uint32_t>(index % batches);
  const std::uint64_t begin = cut.begin(batch) + index / batches * max_piece_rounds;
  const std::uint64_t full = begin + max_piece_rounds;
  const std::uint64_t end = cut.end(batch);
  return {batch, begin, full < end ? full : end};
}

}  // namespace speclab
