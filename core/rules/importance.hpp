// Importance-weighted selection (Khisti et al. 2024, "Multi-draft speculative sampling: canonical
// architectures and theoretical limits", section 3): first one candidate is chosen, then it is verified as a
// single draft from q_I, the distribution of the chosen candidate. Lossless for any way of choosing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/number.hpp"
#include "core/fast/fast_ratio_order.hpp"
#include "core/rules/recursive.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// Chooses one of k i.i.d. candidates, and computes the distribution of the chosen one.
///
/// Order the tokens by p/q and let F be the draft's probability up to a token. The optimal transport bound is
/// attained at a set S of the lowest tokens, which the draft proposes too often. So a candidate outside S is
/// preferred (q_I(S) = F(S)^k, as the bound requires). Among candidates on the same side of S, either the
/// first is chosen, which keeps the draft's proportions, or the one of largest p/q. An acceptance draw
/// decides between these, with the probability that maximises sum min(p, q_I).
template <class Real>
class ImportanceWeights {
 public:
  ImportanceWeights(BasicRow<Real> target, BasicRow<Real> draft, std::size_t drafts)
      : order_(fast_by_ratio(target, draft)),
        distribution_(std::vector<Real>(static_cast<std::size_t>(target.size), Real(0))) {
    std::vector<Place> places;  // in the order by ratio
    places.reserve(order_.size());
    Real below(0);
    Real power_below(0);
    Real target_below(0);
    Real deepest(0);
    Real at_split(0);
    for (const Token id : order_) {
      below += draft[id];
      target_below += target[id];
      const Real power = power_of(below, drafts);
      places.push_back({target[id], draft[id], power - power_below});
      power_below = power;
      if (power - target_below > deepest) {
        deepest = power - target_below;
        split_ = places.size();
        at_split = below;
      }
    }
    // P(side) / q(side) is F^(k-1) below the split, and (1 - F^k) / (1 - F) above it, as a geometric sum.
    const Real low_share = power_of(at_split, drafts - 1);
    Real high_share(0);
    for (std::size_t j = 0; j < drafts; ++j) high_share += power_of(at_split, j);
    low_ = settle(places, 0, split_, low_share);
    high_ = settle(places, split_, order_.size(), high_share);
  }

  /// Returns q_I.
  const OwnedRow<Real>& distribution() const { return distribution_; }

  template <class Random>
  Token choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
               Draw acceptance_draw, Random& random) const {
    const auto above = [&](Token id) {
      return split_ == 0 || precedes(target, draft, order_[split_ - 1], id);
    };
    const bool any_above = std::any_of(candidates.begin(), candidates.end(), above);
    Token first = no_token;
    Token best = no_token;
    for (const Token id : candidates) {
      if (any_above && !above(id)) continue;
      if (first == no_token) first = id;
      if (best == no_token || precedes(target, draft, best, id)) best = id;
    }
    return random.bernoulli(acceptance_draw, any_above ? high_ : low_) ? best : first;
  }

 private:
  /// Returns whether `a` is strictly earlier in the order: it has a smaller ratio, or an equal one and a
  /// higher id.
  static bool precedes(BasicRow<Real> target, BasicRow<Real> draft, Token a, Token b) {
    const ProbabilityRatio<Real> left(target[a], draft[a]);
    const ProbabilityRatio<Real> right(target[b], draft[b]);
    return left < right || (!(right < left) && a > b);
  }

  struct Place {
    Real target;
    Real draft;
    Real largest;  ///< probability that the token is the candidate of largest ratio
  };

  /// Finds, by bisection, the probability of taking the largest ratio for the tokens order_[first] ..
  /// order_[last - 1], and fills in their distribution. The objective is concave in this probability; any
  /// value is lossless, so ten steps suffice.
  Real settle(const std::vector<Place>& places, std::size_t first, std::size_t last, const Real& share) {
    const auto mixed = [&](const Place& place, const Real& weight) -> Real {
      return weight * place.largest + (Real(1) - weight) * share * place.draft;
    };
    const auto rises = [&](const Real& weight) {
      Real slope(0);
      for (std::size_t at = first; at < last; ++at) {
        const Place& place = places[at];
        if (mixed(place, weight) < place.target) slope += place.largest - share * place.draft;
      }
      return slope >= Real(0);
    };
    constexpr int steps = 10;
    Real weight(1);
    if (!rises(weight)) {
      Real low(0);
      Real high(1);
      for (int step = 0; step < steps; ++step) {
        const Real middle = (low + high) / Real(2);
        (rises(middle) ? low : high) = middle;
      }
      weight = low;
    }
    for (std::size_t at = first; at < last; ++at)
      distribution_.probabilities[static_cast<std::size_t>(order_[at])] = mixed(places[at], weight);
    return weight;
  }

  std::vector<Token> order_;
  OwnedRow<Real> distribution_;
  std::size_t split_ = 0;  ///< number of tokens in S
  Real low_{1};
  Real high_{1};
};

/// Chooses by ImportanceWeights, then verifies as token verification does on (p, q_I). Close to the optimal
/// transport bound for two to four drafts.
struct ImportanceRule : SeveralPaths {
  using SeveralPaths::SeveralPaths;

  template <class Real, class Random>
  Choice choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                std::uint16_t slot, Random& random) const {
    if (candidates.size() == 1) return verified(candidates.front(), target, draft, slot, random);
    const ImportanceWeights<Real> weights(target, draft, candidates.size());
    const Draw which{Use::accept, static_cast<std::uint16_t>(slot + 1)};
    const Token chosen = weights.choose(candidates, target, draft, which, random);
    return verified(chosen, target, weights.distribution().view(), slot, random);
  }

 private:
  template <class Real, class Random>
  static Choice verified(Token chosen, BasicRow<Real> target, BasicRow<Real> distribution, std::uint16_t slot,
                         Random& random) {
    const TokenRule token_rule;
    if (random.bernoulli(Draw{Use::accept, slot}, token_rule.acceptance(chosen, target, distribution)))
      return {chosen, true};
    return {categorical_or(random, Draw{Use::replace, slot}, token_rule.replacement(target, distribution),
                           target),
            false};
  }
};

}  // namespace speclab
