// Importance-weighted selection (Khisti et al. 2024, "Multi-draft speculative sampling: canonical
// architectures and theoretical limits", section 3): first choose one of the candidates, then verify it as a
// single draft from the law q_I of the chosen one. Lossless whatever the weights of the choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "speclab/core/quick_ratio_order.hpp"
#include "speclab/core/rules/recursive.hpp"

namespace speclab {

/// The weights used here put everything on the candidate of the largest p/q (lowest id on ties), whose law is
/// a difference of powers of the draft's distribution function along that order.
struct ImportanceRule : BonusFromTarget {
  std::int32_t paths = 2;

  ImportanceRule() = default;
  explicit ImportanceRule(std::int32_t drafts) : paths(drafts) {}

  /// q_I for `drafts` i.i.d. candidates.
  template <class Real>
  static OwnedRow<Real> chosen_law(BasicRow<Real> target, BasicRow<Real> draft, std::size_t drafts) {
    std::vector<Real> law(static_cast<std::size_t>(target.size), Real(0));
    Real below(0);
    Real power_below(0);
    for (const Token id : quick_by_ratio(target, draft)) {
      below += draft[id];
      Real power(1);
      for (std::size_t i = 0; i < drafts; ++i) power *= below;
      law[static_cast<std::size_t>(id)] = power - power_below;
      power_below = power;
    }
    return OwnedRow<Real>(std::move(law));
  }

  template <class Real, class Chance>
  Choice choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                std::uint16_t slot, Chance& chance) const {
    Token best = candidates.front();
    for (const Token id : candidates) {
      const MassRatio<Real> mine(target[id], draft[id]);
      const MassRatio<Real> theirs(target[best], draft[best]);
      if (theirs < mine || (!(mine < theirs) && id < best)) best = id;
    }
    const OwnedRow<Real> law = chosen_law(target, draft, candidates.size());
    const TokenRule token_rule;
    const Draw coin{Use::accept, slot};
    if (chance.flip(coin, token_rule.acceptance(best, target, law.view()))) return {best, true};
    return {pick_or(chance, Draw{Use::replace, slot}, token_rule.replacement(target, law.view()), target),
            false};
  }
};

}  // namespace speclab
