// Defines rules that read only two probabilities, so that a round can cost the same at any vocabulary.
#pragma once

#include <concepts>

#include "core/host_device.hpp"
#include "core/rules/position_rules.hpp"

namespace speclab {

/// A rule whose acceptance probability is a function of the drafted token's probabilities p (target) and q
/// (draft),
///     acceptance_probability(p, q)
/// whose replacement is norm((p - scale q)+),
///     residual_scale<Real>()   that scale
/// and whose bonus is the target's row. Its `Pointwise` is the rule itself, so that a rule derived from it,
/// which may differ anywhere, does not match.
template <class Rule>
concept PointwiseRule = RuleSaidByPosition<Rule> && std::same_as<typename Rule::Pointwise, Rule> &&
    requires(const Rule& rule, double m) {
  { rule.acceptance_probability(m, m) } -> std::convertible_to<double>;
  { rule.template residual_scale<double>() } -> std::convertible_to<double>;
};

/// Returns the probability of accepting a token proposed from the target as a draw from norm((p - scale q)+).
template <class Rule, class Real>
SPECLAB_HD Real residual_acceptance(const Rule& rule, const Real& p, const Real& q) {
  const Real cut = rule.template residual_scale<Real>() * q;
  return p > cut ? Real((p - cut) / p) : Real(0);
}

}  // namespace speclab
