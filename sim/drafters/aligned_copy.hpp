// Drafts the input itself, for tasks whose output repeats most of it: shallow, or input-guided, aggressive
// decoding (Sun et al. 2021; Ge et al. 2022).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/drafters/point_rows.hpp"

namespace speclab {

/// Where copying continues after a disagreement, if the last output tokens occur in the input. `unique`: only
/// if they occur once, as published. `nearest`: at the first place that is not before the old one.
enum class Realign { unique, nearest };

struct AlignedCopyOptions {
  std::int32_t match = 2;    ///< number of output tokens that must occur in the input to align again
  std::int32_t length = 10;  ///< maximum of tokens drafted in a round; 0 sets no limit
  Realign realign = Realign::nearest;
};

/// Copies from the input x[0 .. n), which is the context of a Memory's first read; the output follows it. An
/// alignment is a position 0 <= a <= n in the input, initially 0. For each output token y:
///
/// 1. if aligned, a < n and x[a] = y: a grows by 1;
/// 2. otherwise the alignment is lost, and the last `match` output tokens, y included, are searched in the
///    input. Each occurrence x[e - match .. e) gives a position e. unique: a = e if there is exactly one e.
///    nearest: a is the smallest e with e >= the last alignment. If there is no such e, or the output has
///    fewer than `match` tokens, the next output token repeats the search.
///
/// A round drafts x[a], x[a + 1], ... as point masses: nothing without an alignment, and never beyond n.
///
/// Time of read: sorting the input once; then constant for a copied token, and match * log n for any other.
class AlignedCopy {
 public:
  struct Memory {
    std::size_t read = 0;               ///< number of context tokens already read
    std::optional<std::size_t> source;  ///< length of the input, once it is read
    bool aligned = true;
    std::size_t at = 0;               ///< the alignment, or the last one
    std::vector<std::size_t> places;  ///< positions of the input that `match` tokens precede, ordered by
                                      ///< these tokens, then ascending
  };

  /// Requires vocab >= 1, match >= 1, length >= 0.
  explicit AlignedCopy(std::int32_t vocab, const AlignedCopyOptions& options = {});

  void read(Memory& memory, std::span<const Token> context) const;
  Row propose(Memory& memory, std::span<const Token> context, std::int32_t position,
              std::vector<double>& storage) const;
  /// Returns 1 if anything was drafted: one look-up per round.
  std::int32_t runs(std::int32_t drafted) const { return drafted > 0 ? 1 : 0; }

 private:
  void begin(Memory& memory, std::span<const Token> prompt) const;
  void realign(Memory& memory, std::span<const Token> context) const;

  AlignedCopyOptions options_;
  PointRows points_;
};

}  // namespace speclab
