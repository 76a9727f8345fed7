// Heads that predict several tokens at once, independently of each other (Stern et al. 2018, blockwise
// parallel decoding; Cai et al. 2024, Medusa).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/models/model.hpp"

namespace speclab {

/// Head i predicts the token at distance i + 1 from the end of the context, from the context alone. The
/// drafted tokens of a round are therefore independent, and one run drafts all of them.
class HeadsDrafter {
 public:
  struct Memory {};

  /// Requires at least one head, and one vocabulary for all.
  explicit HeadsDrafter(std::vector<Model> heads);

  void read(Memory&, std::span<const Token>) const {}
  /// Proposes at most as many tokens as there are heads.
  Row propose(Memory&, std::span<const Token> context, std::int32_t position,
              std::vector<double>& storage) const;
  std::int32_t runs(std::int32_t drafted) const { return drafted > 0 ? 1 : 0; }

  std::span<const Model> heads() const { return heads_; }

 private:
  std::vector<Model> heads_;
};

/// Trains P(x[t + distance] | x[t]), interpolated Kneser-Ney of order 2 (sim/models/kneser_ney.hpp), on the
/// tokens x[0], x[d], x[2 d], ..., x[1], x[1 + d], ..., x[d - 1], ..., where d = distance: in that order the
/// pairs at distance d are neighbours. The d - 1 boundaries between residue classes add false pairs. Throws
/// ModelError for a distance outside 1 .. tokens - 1, and as train_kneser_ney does.
NgramModel train_head(std::span<const Token> tokens, std::int32_t vocab, std::int32_t distance);

/// Trains `count` heads; head i has distance i + 1. `how` adjusts every row: temperature 0 gives the argmax
/// of blockwise parallel decoding. Throws ModelError if count is below 1, and as train_head does.
HeadsDrafter fit_heads(std::span<const Token> tokens, std::int32_t vocab, std::int32_t count,
                       const Adjustment& how = {});

}  // namespace speclab
