// Rows with all probability on one token; all of them share the memory of two rows.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/distribution/row.hpp"

namespace speclab {

/// Stores a single 1 between vocab - 1 zeros on either side: a token's row is the window that has the 1 at
/// the token's index. Deterministic drafters therefore fill no row, and threads share the rows. Memory: 16
/// bytes per token id.
class PointRows {
 public:
  /// Requires vocab >= 1.
  explicit PointRows(std::int32_t vocab)
      : vocab_(vocab), probabilities_(2 * static_cast<std::size_t>(vocab) - 1) {
    assert(vocab >= 1);
    probabilities_[static_cast<std::size_t>(vocab - 1)] = 1;
  }

  std::int32_t vocab() const { return vocab_; }

  /// Returns the row of 0 <= token < vocab, valid as long as this object.
  Row operator[](Token token) const {
    assert(0 <= token && token < vocab_);
    return {probabilities_.data() + (vocab_ - 1 - token), vocab_};
  }

 private:
  std::int32_t vocab_;
  std::vector<double> probabilities_;
};

}  // namespace speclab
