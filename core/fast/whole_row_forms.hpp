// Which rules have a verification in terms of totals or of few numbers, and what they draft for it.
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

/// What a round drafts. Siblings are i.i.d., or drawn without replacement.
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

inline DraftedShape drafted_shape(const BlockRule&, std::int32_t gamma) { return drafted_paths(1, gamma); }
inline DraftedShape drafted_shape(const ScheduledRule&, std::int32_t gamma) {
  return drafted_paths(1, gamma);
}
inline DraftedShape drafted_shape(const GumbelRule&, std::int32_t gamma) { return drafted_paths(1, gamma); }
template <PositionForm Rule>
DraftedShape drafted_shape(const Rule&, std::int32_t gamma) {
  return drafted_paths(1, gamma);
}
inline DraftedShape drafted_shape(const SeveralPaths& rule, std::int32_t gamma) {
  return drafted_paths(rule.paths, gamma);
}
inline DraftedShape drafted_shape(const StaticTree& rule, std::int32_t) { return {*rule.tree, true}; }

/// What verifications ask about the rows after a node, beside totals.
template <class Real>
struct RowFacts {
  typename KSeqVerification<Real>::Scale k_seq_scale;
  std::function<PositionNumbers<Real>(std::int32_t node)> position;
  typename ScheduledVerification<Real>::DraftBest draft_best;
};

template <class Real>
BlockVerification<Real> verification_of(const BlockRule&, RowFacts<Real>) {
  return BlockVerification<Real>();
}
/// As the program reads: the pseudocode has another round.
template <class Real>
BlockVerification<Real, HsdRule> verification_of(const HsdRule& rule, RowFacts<Real>) {
  return BlockVerification<Real, HsdRule>(rule);
}
template <class Real>
ScheduledVerification<Real> verification_of(const ScheduledRule& rule, RowFacts<Real> facts) {
  return {rule, std::move(facts.draft_best)};
}
template <class Real>
GumbelVerification<Real> verification_of(const GumbelRule&, RowFacts<Real>) {
  return {};
}
template <class Real>
RecursiveVerification<Real> verification_of(const RecursiveRule&, RowFacts<Real>) {
  return {};
}
template <class Real>
KSeqVerification<Real> verification_of(const KSeqRule&, RowFacts<Real> facts) {
  return KSeqVerification<Real>(std::move(facts.k_seq_scale));
}
template <class Real>
TreeVerification<Real> verification_of(const TreeRule&, RowFacts<Real>) {
  return {};
}
template <class Real>
TraversalVerification<Real> verification_of(const TraversalRule&, RowFacts<Real>) {
  return {};
}
template <class Real, PositionForm Rule>
PositionVerification<Real> verification_of(const Rule& rule, RowFacts<Real> facts) {
  return {rule, std::move(facts.position)};
}

/// What runs so. Nothing that derives from these: it may differ anywhere.
template <class Rule>
concept WholeRowRule =
    std::same_as<Rule, BlockRule> || std::same_as<Rule, HsdRule> || std::same_as<Rule, ScheduledRule> ||
    std::same_as<Rule, GumbelRule> || std::same_as<Rule, RecursiveRule> || std::same_as<Rule, KSeqRule> ||
    std::same_as<Rule, TreeRule> || std::same_as<Rule, TraversalRule> || PositionForm<Rule>;

}  // namespace speclab
