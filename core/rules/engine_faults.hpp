// More planted faults: mistakes of serving engines in combining the steps of a round (core/rules/faults.hpp
// has mistakes of the decision itself). Not for decoding.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/round/verify.hpp"
#include "core/rules/greedy.hpp"
#include "core/rules/gumbel.hpp"
#include "core/rules/importance.hpp"
#include "core/rules/scheduled.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// Fault: the correction is drawn with the Gumbel noise that drew the rejected token
/// (vllm-project/vllm#47386). This is the coupling of core/rules/gumbel.hpp between the draft's row and the
/// residual.
struct ReusedGumbelFault {};

template <class Targets, class Drafts, class Random>
Verdict verify(const ReusedGumbelFault&, const Targets& targets, const Drafts& drafts, const Token* drafted,
               std::int32_t gamma, Random& random) {
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  for (std::int32_t i = 0; i < gamma; ++i) {
    const auto slot = static_cast<std::uint16_t>(i);
    const auto target = targets(i);
    const auto draft = drafts(i);
    if (random.bernoulli(Draw{Use::accept, slot}, TokenRule{}.acceptance(drafted[i], target, draft)))
      continue;
    OwnedRow<Real> residual = copy_of(target);
    subtract_draft(residual.probabilities, draft, Real(1));
    const OwnedRow<Real> coupled = GumbelRule{}.coupled(drafted[i], residual.view(), draft);
    return {i, i + 1, categorical_or(random, Draw{Use::replace, slot}, coupled, target)};
  }
  return all_accepted(TokenRule{}, targets, gamma, random);
}

/// Fault: tokens are drawn from the draft's `kept` likeliest tokens, and verified as if drawn from the whole
/// row, because q was stored before the filter (huggingface/transformers#47932). It is a rule for paths,
/// because only such rules can change how drafts are drawn. ImportanceRule verifies one draft as TokenRule
/// does.
struct UnfilteredDraftFault : ImportanceRule {
  static constexpr std::int32_t kept = 2;

  UnfilteredDraftFault() : ImportanceRule(1) {}

  template <class Real>
  OwnedRow<Real> drawn_from(BasicRow<Real> draft) const {
    OwnedRow<Real> filtered(std::vector<Real>(static_cast<std::size_t>(draft.size), Real(0)));
    OwnedRow<Real> left = copy_of(draft);
    for (std::int32_t i = 0; i < kept; ++i) {
      const Token best = argmax(left);
      if (best < 0) return left;
      const auto at = static_cast<std::size_t>(best);
      filtered.probabilities[at] = draft[best];
      left.probabilities[at] = Real(0);
    }
    return filtered;
  }
};

/// Fault: half of the rounds find no prepared draft; they verify as at temperature 0, and correct from the
/// target (tanishqkumar/ssd, ssd/utils/verify.py).
struct GreedyMissesFault {
  template <class Real>
  struct Miss : GreedyRule {
    BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const { return target; }
    BasicRow<Real> bonus(BasicRow<Real> target) const { return target; }
  };
};

template <class Targets, class Drafts, class Random>
Verdict verify(const GreedyMissesFault&, const Targets& targets, const Drafts& drafts, const Token* drafted,
               std::int32_t gamma, Random& random) {
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  const Draw miss{Use::accept, static_cast<std::uint16_t>(gamma)};
  if (random.bernoulli(miss, Real(Real(1) / Real(2))))
    return verify(GreedyMissesFault::Miss<Real>{}, targets, drafts, drafted, gamma, random);
  return verify(TokenRule{}, targets, drafts, drafted, gamma, random);
}

/// Fault: the scheduler of ScheduledRule takes the draft's probability of the drafted token as confidence,
/// and one half as bar, so that the token itself decides whether it is verified (DSpark_paper.pdf, Appendix
/// A).
struct AnticipatingFault {};

template <class Targets, class Drafts, class Random>
Verdict verify(const AnticipatingFault&, const Targets& targets, const Drafts& drafts, const Token* drafted,
               std::int32_t gamma, Random& random) {
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  const std::int32_t length =
      surviving_prefix(gamma, Real(Real(1) / Real(2)), [&](std::int32_t i) { return drafts(i)[drafted[i]]; });
  return verify(TokenRule{}, targets, drafts, drafted, length, random);
}

}  // namespace speclab
