// Computes rounds of a pair with bounded memory from the text that they emit: exact target steps of a text,
// for rules whose rounds follow from the text (analysis/recorded/expected_rounds.hpp). Block verification is
// one of them; its rounds are not products of single positions and have no chain of them (context_chain.hpp).
//
// The text has the target's distribution. Given the text, a round accepts at least k tokens with a
// probability s_k that depends only on the rows of those k tokens. So a round leads from a context x to
//     K(x, x y_1..y_k) = p(y_1..y_k | x) (s_{k-1} - s_k),  k = 1..gamma;  p(y_1..y_{gamma+1} | x) s_gamma
// and emits 1 + sum_k E[s_k | x] tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rules/block.hpp"

namespace speclab {

/// Lossless rules of one draft whose rounds follow from the text.
enum class TextRule {
  match,  ///< the draft's token is kept if a token drawn from the target equals it
  token,  ///< Leviathan et al. 2023, Algorithm 1
  block,  ///< Sun et al. 2024
};

/// Computes s_k = P(the first k tokens were drafted and accepted | they were emitted), token by token.
struct TextSurvival : BlockSurvival {
  /// Appends the next token, which has these probabilities; target > 0.
  void next(TextRule rule, double target, double draft) {
    switch (rule) {
      case TextRule::match:
        kept *= draft;  // its draw is independent of the text
        break;
      case TextRule::token:
        kept *= std::min(1.0, draft / target);
        break;
      case TextRule::block:
        BlockSurvival::next(draft / target);
        break;
    }
  }
};

/// Numbered contexts, and the context that follows each token.
struct TextChain {
  std::int32_t vocab = 0;
  std::vector<std::int32_t> successor;  ///< [contexts, vocab]

  std::size_t contexts() const { return successor.size() / static_cast<std::size_t>(vocab); }
};

/// Returns the mean number of target steps for a text of `tokens` tokens, by the context before it,
/// [contexts]. Tokens drafted beyond its end do not matter. `target` and `draft` have a normalised row per
/// context, [contexts, vocab].
std::vector<double> expected_steps(const TextChain& chain, std::span<const double> target,
                                   std::span<const double> draft, TextRule rule, int gamma, int tokens);

}  // namespace speclab
