// Maps each rule to its verification without dense rows, and to the shape of its drafts.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/fast/block_verification.hpp"
#include "core/fast/gumbel_verification.hpp"
#include "core/fast/paths_verification.hpp"
#include "core/fast/position_verification.hpp"
#include "core/fast/scheduled_verification.hpp"
#include "core/fast/tree_verification.hpp"
#include "core/rules/block.hpp"
#include "core/rules/gumbel.hpp"
#include "core/rules/hsd.hpp"
#include "core/rules/k_seq.hpp"
#include "core/rules/recursive.hpp"
#include "core/rules/scheduled.hpp"
#include "core/rules/traversal.hpp"
#include "core/rules/tree.hpp"

namespace speclab {

/// The shape of a round's drafts. Siblings are i.i.d., or drawn without replacement (`distinct`).
struct DraftedShape {
  DraftTree tree;
  bool distinct = false;
};

inline DraftedShape drafted_paths(std::int32_t paths, std::int32_t gamma) {
  std::vector<std::int32_t> parents;
  for (std::int32_t node = 0; node < paths * gamma; ++node)
    parents.push_back(node % gamma == 0 ? -1 : node - 1);
  return {DraftTree(std::move(parents))};
}

template <class Rule>
DraftedShape drafted_shape(const Rule& rule, std::int32_t gamma) {
  if constexpr (requires { *rule.tree; }) return {*rule.tree, true};
  if constexpr (requires { rule.paths; }) return drafted_paths(rule.paths, gamma);
  return drafted_paths(1, gamma);
}

/// Facts about the rows after a node that verifications need in addition to totals.
template <class Real>
struct RowFacts {
  typename KSeqVerification<Real>::Scale k_seq_scale = {};
  std::function<PositionNumbers<Real>(std::int32_t node)> position = {};
  typename ScheduledVerification<Real>::DraftBest draft_best = {};
};

// Each overload takes exactly one rule type, because a derived rule may override any part of it.
template <class Real, std::same_as<BlockRule> Rule>
BlockVerification<Real> verification_of(const Rule&, RowFacts<Real>) {
  return BlockVerification<Real>();
}
/// Follows HSD as the authors' program has it; their pseudocode has a different round.
template <class Real, std::same_as<HsdRule> Rule>
BlockVerification<Real, HsdRule> verification_of(const Rule& rule, RowFacts<Real>) {
  return BlockVerification<Real, HsdRule>(rule);
}
template <class Real, std::same_as<ScheduledRule> Rule>
ScheduledVerification<Real> verification_of(const Rule& rule, RowFacts<Real> facts) {
  return {rule, std::move(facts.draft_best)};
}
template <class Real, std::same_as<GumbelRule> Rule>
GumbelVerification<Real> verification_of(const Rule&, RowFacts<Real>) {
  return {};
}
template <class Real, std::same_as<RecursiveRule> Rule>
RecursiveVerification<Real> verification_of(const Rule&, RowFacts<Real>) {
  return {};
}
template <class Real, std::same_as<KSeqRule> Rule>
KSeqVerification<Real> verification_of(const Rule&, RowFacts<Real> facts) {
  return KSeqVerification<Real>(std::move(facts.k_seq_scale));
}
template <class Real, std::same_as<TreeRule> Rule>
TreeVerification<Real> verification_of(const Rule&, RowFacts<Real>) {
  return {};
}
template <class Real, std::same_as<TraversalRule> Rule>
TraversalVerification<Real> verification_of(const Rule&, RowFacts<Real>) {
  return {};
}
template <class Real, PositionForm Rule>
PositionVerification<Real, Rule> verification_of(const Rule& rule, RowFacts<Real> facts) {
  return {rule, std::move(facts.position)};
}

/// A rule that has an overload of `verification_of`.
template <class Rule>
concept WholeRowRule = requires(const Rule& rule) {
  verification_of<double>(rule, RowFacts<double>{});
};

}  // namespace speclab
