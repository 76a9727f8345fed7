// Computes exact tokens per target step, for a pair with bounded memory, from the distribution of the emitted
// text, for rules whose rounds follow from the text (analysis/recorded/expected_rounds.hpp). Block
// verification is one of them; context_chain.hpp cannot treat it, because it does not decide position by
// position.
//
// The text has the target's distribution. Given the text, a round accepts at least k tokens with a
// probability s_k that depends only on the rows of those k tokens. So a round leads from a context x to
//     K(x, x y_1..y_k) = p(y_1..y_k | x) (s_{k-1} - s_k),  k = 1..gamma;  p(y_1..y_{gamma+1} | x) s_gamma
// and emits 1 + sum_k E[s_k | x] tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"
#include "core/rules/block_survival.hpp"

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

/// Returns P(the first drafted token is accepted): sum p q for `match`, sum min(p, q) for the others. The
/// rows have equal sizes and are normalised.
double first_acceptance(TextRule rule, Row target, Row draft);

/// Numbered contexts, and the context that follows each token.
struct TextChain {
  std::int32_t vocab = 0;
  std::vector<std::int32_t> successor;  ///< [contexts, vocab]
  std::vector<double> start;            ///< share of texts that begin in each context; sums to 1

  std::size_t contexts() const { return start.size(); }
};

/// Returns the steps that tokens_per_round takes, up to a small factor.
double text_rounds_cost(std::size_t contexts, std::int32_t vocab, int gamma);

/// The functions below accept at most max_direct_states contexts (direct_stationary.hpp), asserted; `target`
/// and `draft` have a normalised row per context, [contexts, vocab].
///
/// Returns the long-run share of each context in texts of the target.
std::vector<double> text_shares(const TextChain& chain, std::span<const double> target);
/// Returns the mean number of tokens that a round emits in the long run, with gamma >= 1 drafted tokens.
double tokens_per_round(const TextChain& chain, std::span<const double> target, std::span<const double> draft,
                        TextRule rule, int gamma);
/// Returns the mean number of target steps for a text of `tokens` tokens, by the context before it,
/// [contexts]. Tokens drafted beyond its end do not matter.
std::vector<double> expected_steps(const TextChain& chain, std::span<const double> target,
                                   std::span<const double> draft, TextRule rule, int gamma, int tokens);

}  // namespace speclab
