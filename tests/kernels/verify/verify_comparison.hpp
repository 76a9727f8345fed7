// Shared parts of tests of verification kernels: comparing decisions with a reference, and the rows that a
// program leaves in its scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/verify/batch_part.hpp"
#include "kernels/verify/dispatch.hpp"
#include "tests/kernels/verify/logit_batch.hpp"

namespace speclab {

struct Comparison {
  int within_band = 0;
  int different = 0;  ///< outside the band
};

/// Compares the batch's results with those expected, unless the reference says that a uniform was this close
/// to another outcome.
inline Comparison compare(const LogitBatch& logits, const std::vector<ReferenceDecision>& expected,
                          double band) {
  Comparison found;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].margin < band) {
      ++found.within_band;
    } else if (logits.accepted[i] != expected[i].accepted || logits.next[i] != expected[i].next) {
      ++found.different;
    }
  }
  return found;
}

/// A program's workspace after a run that started from one byte everywhere.
template <class Program>
class KeptWorkspace {
 public:
  KeptWorkspace(const VerifyBatch& batch, simt::Order order, unsigned char fill = 0)
      : blocks_(OverScratch<Program>::workspace_bytes(batch) / sizeof(Block)), batch_(batch) {
    for (Block& block : blocks_) std::memset(block.bytes, fill, sizeof block.bytes);
    simt::EmulatedExecutor executor(order);
    OverScratch<Program>::run(executor, batch, blocks_.data());
  }

  /// Returns the number of bytes that are equal in both.
  std::size_t equal_bytes(const KeptWorkspace& other) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      for (std::size_t k = 0; k < sizeof(Block); ++k) {
        count += blocks_[i].bytes[k] == other.blocks_[i].bytes[k] ? 1 : 0;
      }
    }
    return count;
  }

  /// Returns the cumulative sums in which each request's next token was searched, as bits.
  std::vector<std::uint32_t> cumulative() {
    WorkspaceParts parts(blocks_.data());
    const typename Program::Scratch scratch(batch_, parts);
    const FloatRows rows = draw_of(scratch).cumulative;
    std::vector<std::uint32_t> bits;
    for (std::int64_t request = 0; request < batch_.requests; ++request) {
      for (Token id = 0; id < batch_.vocab; ++id) bits.push_back(bits_of_float(rows.at(request, 0)[id]));
    }
    return bits;
  }

 private:
  struct alignas(256) Block {
    unsigned char bytes[256];
  };

  static const DrawScratch& draw_of(const baseline::Scratch& scratch) { return scratch.draw; }
  static const DrawScratch& draw_of(const wagner::TileScratch& scratch) { return scratch.draw; }
  static const DrawScratch& draw_of(const wagner::Exact::Scratch& scratch) { return scratch.tiles.draw; }

  std::vector<Block> blocks_;
  VerifyBatch batch_;
};

}  // namespace speclab
