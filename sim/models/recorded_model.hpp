// A recorded text as a pair of models over two tokens, so that decoding can run on it. At position t of the
// text the draft always proposes `kept`, and the target gives `kept` the probability min(1, q/p) of the
// recorded token. Token verification therefore accepts with exactly the probability for the recorded token
// (Leviathan et al. 2023, Alg. 1; analysis/recorded/recording.hpp), and both models' overlap is that
// probability. This holds for no other rule.
//
// Acceptance rates of other rules need other rows: a rule's rate in a context is a sum over tokens of some
// f(p, q), such as min(p / l, q) under lenience l (A.5). If f is homogeneous of degree 1, the rate is the
// mean of f(1, q(y)/p(y)) over tokens y drawn from p; rows in units of p(y) give it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"
#include "core/token.hpp"

namespace speclab {

class RecordedModel {
 public:
  /// `target_rate` and `draft_rate` are for acceptance rates, in units of the recorded token's p.
  enum class Side { target, draft, target_rate, draft_rate };
  static constexpr Token kept = 0;
  static constexpr Token not_kept = 1;

  /// `ratios` are q/p of the recorded token at each position; not empty (asserted). Decoding needs only
  /// min(1, q/p). After the last position the text starts again.
  RecordedModel(std::shared_ptr<const std::vector<double>> ratios, Side side);

  std::int32_t vocab() const { return 2; }
  /// Returns the row after a context that is a prompt of `prompt` and the tokens after it (asserted).
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// Returns the context at which position `start` is next: its number in binary.
  static std::vector<Token> prompt(std::uint32_t start);

 private:
  std::shared_ptr<const std::vector<double>> ratios_;
  Side side_;
};

}  // namespace speclab
