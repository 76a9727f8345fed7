// Speculative decoding as a Markov chain over contexts: exact also for dependent acceptances, which models
// with memory have. A context is the last n tokens, where n is the longer memory of the two models (fewer at
// the start of a text); only contexts that can occur are stored. For one drafted token at context x, with w
// the token emitted there:
//     kept        M(x, xw)   w was drafted and kept                         min(P, Q) for token verification
//     corrected   J(x, xw)   a drafted token was rejected and w emitted     P - M
//     bonus       B(x, xw)   w was emitted as the bonus token               P
// so that with gamma drafted tokens a round leads from a distribution v over contexts to
//     v K = sum_{i < gamma} (v M^i) J + (v M^gamma) B.
// analysis/exact/chain_distributions.hpp computes its properties.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "analysis/exact/enumerable_rule.hpp"
#include "analysis/exact/model_ref.hpp"
#include "analysis/exact/transitions.hpp"
#include "core/round/round.hpp"
#include "core/rules/position_rules.hpp"

namespace speclab {

/// Thrown if a chain cannot be built: too many contexts or transitions, or an invalid row. The message gives
/// their number and how to reduce it.
struct ChainError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ChainLimits {
  std::size_t contexts = 1'000'000;
  std::size_t transitions = 100'000'000;  ///< pairs of a context and a token; up to 48 bytes each
  double dense_above = 0.5;               ///< share of non-zero entries from which a matrix is stored densely
};

/// Returns the part of a text, prompt included, that determines all later rows, of every model.
using TextKey = std::function<std::vector<Token>(std::span<const Token> text)>;

struct ContextChain {
  /// Tokens of each context, in order of discovery; with a TextKey the first text that was found to have it.
  std::vector<std::vector<Token>> contexts;
  std::vector<std::int32_t> starts;        ///< the context at the end of each prompt
  Transitions accepted;                    ///< M
  Transitions corrected;                   ///< J
  Transitions bonus;                       ///< B
  std::optional<Transitions> other_plain;  ///< one token without speculation, if it is not B
  std::vector<double> rejection;           ///< P(a token drafted here is rejected) = 1 - beta
  std::vector<double> distance;  ///< total variation between decoding without speculation and the draft here
  std::size_t transitions = 0;   ///< pairs of a context and a token that can follow it

  /// Returns the transitions of one token without speculation. These are B for the rules of
  /// core/rules/all_rules, except some faults and greedy verification of a target that is not greedy.
  const Transitions& plain() const { return other_plain ? *other_plain : bonus; }

  std::int32_t size() const { return static_cast<std::int32_t>(contexts.size()); }
};

/// The outcomes in one context; each vector has one probability per emitted token.
struct PositionDistribution {
  std::vector<double> accepted;
  std::vector<double> corrected;
  std::vector<double> bonus;
  std::vector<double> plain;
  double rejection = 0;
  double distance = 0;
};

namespace chain_detail {

/// Returns `total`. Throws ChainError for a row with NaN or infinity, or one that sums to 0.
double checked_total(double total);

/// Adds probability * norm(weights) to `into`, or norm(fallback) if `weights` have probability 0, as
/// categorical_or in core/round/verify.hpp does.
template <class Weights>
void add_normalised(std::vector<double>& into, double probability, const Weights& weights, Row fallback) {
  const double total = total_probability(weights);
  const bool empty = total == 0;
  const double scale = probability / checked_total(empty ? total_probability(fallback) : total);
  for (Token id = 0; id < weights.size; ++id)
    into[static_cast<std::size_t>(id)] += scale * (empty ? fallback[id] : weights[id]);
}

}  // namespace chain_detail

/// Fills `distribution` with the outcomes of `rule` for one token drafted from `draft`.
template <PositionRule Rule>
void describe_position(const Rule& rule, Row target, Row draft, PositionDistribution& distribution) {
  const auto vocab = static_cast<std::size_t>(target.size);
  distribution.accepted.assign(vocab, 0);
  distribution.corrected.assign(vocab, 0);
  distribution.bonus.assign(vocab, 0);
  distribution.plain.assign(vocab, 0);
  distribution.rejection = 0;
  distribution.distance = 0;
  chain_detail::add_normalised(distribution.bonus, 1, rule.bonus(target), target);
  chain_detail::add_normalised(distribution.plain, 1, plain_weights(rule, target), target);
  const double total = chain_detail::checked_total(total_probability(draft));
  const Row plain{distribution.plain.data(), target.size};
  for (Token token = 0; token < draft.size; ++token) {
    if (!(draft[token] > 0)) continue;
    const auto id = static_cast<std::size_t>(token);
    const double drafted = draft[token] / total;
    distribution.distance += drafted * (1 - acceptance_ratio(plain[token], drafted, 1.0));
    if constexpr (CouplingRule<Rule, double>) {
      const double corrected_before = distribution.corrected[id];
      chain_detail::add_normalised(distribution.corrected, drafted, rule.coupled(token, target, draft),
                                   target);
      distribution.accepted[id] = distribution.corrected[id] - corrected_before;
      distribution.corrected[id] = corrected_before;
      distribution.rejection += drafted - distribution.accepted[id];
    } else {
      const double accepted =
          std::clamp(static_cast<double>(rule.acceptance(token, target, draft)), 0.0, 1.0);
      distribution.accepted[id] = drafted * accepted;
      distribution.rejection += drafted * (1 - accepted);
    }
  }
  if constexpr (!CouplingRule<Rule, double>) {
    if (distribution.rejection > 0) {
      chain_detail::add_normalised(distribution.corrected, distribution.rejection,
                                   rule.replacement(target, draft), target);
    }
  }
}

/// Collects a chain context by context, breadth first from the ends of the prompts.
class ChainBuilder {
 public:
  ChainBuilder(int memory, std::span<const std::vector<Token>> prompts, const ChainLimits& limits,
               TextKey key = {});

  /// Returns whether there is a context whose distribution is not yet known.
  bool unfinished() const { return next_ < chain_.contexts.size(); }
  /// Returns the first context whose distribution is not yet known.
  std::span<const Token> context() const { return chain_.contexts[next_]; }
  /// Adds the distribution of `context()`. Throws ChainError above the limits.
  void add(const PositionDistribution& distribution);

  ContextChain take() &&;

 private:
  struct Hash {
    std::size_t operator()(const std::vector<Token>& tokens) const;
  };

  std::int32_t index_of(const std::vector<Token>& context);

  int memory_;
  std::size_t kept_;  ///< number of last tokens that a context holds
  ChainLimits limits_;
  TextKey key_;
  ContextChain chain_;
  std::unordered_map<std::vector<Token>, std::int32_t, Hash> index_;
  std::vector<Token> successor_;
  std::size_t next_ = 0;
};

/// Builds the chain of all contexts that can occur after the prompts (one or more, asserted). `memory` >= 0
/// is the largest number of context tokens that the two models read. If their rows also depend on earlier
/// tokens, `key` tells texts apart, and models are asked for rows after whole texts. Takes one row of each
/// model per context; throws ChainError. The rule must decide by position.
ContextChain build_context_chain(ModelRef<double> target, ModelRef<double> draft, const EnumerableRule& rule,
                                 int memory, std::span<const std::vector<Token>> prompts,
                                 const ChainLimits& limits = {}, const TextKey& key = {});

}  // namespace speclab
