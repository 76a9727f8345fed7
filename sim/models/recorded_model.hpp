// A recorded text as a pair of models over two tokens, so that decoding can run on it. At position t of the
// text the draft always proposes `kept`, and the target gives `kept` the probability min(1, q/p) of the
// recorded token: so token verification accepts with just the probability that it accepts the recorded token
// (Leviathan et al. 2023, Alg. 1; analysis/recorded/recording.hpp), and both models' overlap is that
// probability. No other rule does so.
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
  enum class Side { target, draft };
  static constexpr Token kept = 0;
  static constexpr Token not_kept = 1;

  /// `keep` is P(kept) at each position; not empty, asserted. After the last position follows the first.
  RecordedModel(std::shared_ptr<const std::vector<double>> keep, Side side);

  std::int32_t vocab() const { return 2; }
  /// The context is a prompt of `prompt`, and what came after it. Others are asserted against.
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// The context at which position `start` is next: its number in binary.
  static std::vector<Token> prompt(std::uint32_t start);

 private:
  std::shared_ptr<const std::vector<double>> keep_;
  Side side_;
};

}  // namespace speclab
