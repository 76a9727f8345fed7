// A recorded text as a pair of models over two tokens, so that decoding can run on it. At position t of the
// text the draft always proposes `kept`, and the target gives `kept` the probability min(1, q/p) of the
// recorded token: so token verification accepts with just the probability that it accepts the recorded token
// (Leviathan et al. 2023, Alg. 1; analysis/recorded/recording.hpp), and both models' overlap is that
// probability. No other rule does so.
//
// Acceptance rates of a text are another matter: a rule's rate in a context is a sum over tokens of some
// f(p, q), such as min(p / l, q) under lenience l (A.5). Of degree 1, its mean over tokens y drawn from p is
// that of f(1, q(y)/p(y)), which rows in units of p(y) have.
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

  /// `ratios` are q/p of the recorded token at each position, of which decoding needs the least of them and
  /// 1; not empty, asserted. After the last position follows the first.
  RecordedModel(std::shared_ptr<const std::vector<double>> ratios, Side side);

  std::int32_t vocab() const { return 2; }
  /// The context is a prompt of `prompt`, and what came after it. Others are asserted against.
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// The context at which position `start` is next: its number in binary.
  static std::vector<Token> prompt(std::uint32_t start);

 private:
  std::shared_ptr<const std::vector<double>> ratios_;
  Side side_;
};

}  // namespace speclab
