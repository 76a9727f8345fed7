// Planted faults: mistakes that implementations have made, as rules, so that proofs and tests can be shown to
// fail. Not for decoding.
#pragma once

#include <cstdint>
#include <utility>

#include "core/round/verify.hpp"
#include "core/rules/block.hpp"
#include "core/rules/grown_tree.hpp"
#include "core/rules/recursive.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// Accepts every drafted token.
struct AcceptAllFault : TokenRule {
  template <class Real>
  SPECLAB_HD Real acceptance(Token, BasicRow<Real>, BasicRow<Real>) const {
    return Real(1);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real>, BasicRow<Real>) const {
    return Real(1);
  }
};

/// After a rejection, samples the target instead of the residual.
struct ResampleTargetFault : TokenRule {
  template <class Real>
  SPECLAB_HD BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

/// The residual with target and draft exchanged.
struct SwappedResidualFault : TokenRule {
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {draft, target, Real(1)};
  }
};

/// The acceptance draw compares p/q with the very uniform u that drew the token by inverse CDF: given x, u is
/// uniform on [F(x-1), F(x)) of the draft, and the token is accepted iff u < p/q.
struct SharedNoiseFault : TokenRule {
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    Real below(0);
    for (Token id = 0; id < token; ++id) below += draft[id];
    const Real ratio = acceptance_ratio(target[token], draft[token], Real(1));
    const Real inside = ratio - below;
    return acceptance_ratio(inside, draft[token], Real(1));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    Real below(0);
    Real rate(0);
    for (Token id = 0; id < draft.size; ++id) {
      const Real inside = acceptance_ratio(target[id], draft[id], Real(1)) - below;
      rate += draft[id] * acceptance_ratio(inside, draft[id], Real(1));
      below += draft[id];
    }
    return rate;
  }
};

/// Verifies against the mean of target and draft, an ensemble, and takes the bonus from the target: correct
/// for neither, and its output distribution depends on gamma.
struct EnsembleBonusFault : TokenRule {
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptance_ratio(Real((target[token] + draft[token]) / Real(2)), draft[token], Real(1));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return (Real(1) + overlap(target, draft)) / Real(2);
  }
};

/// The bonus is never written: its place in a buffer of zeros becomes token 0.
struct UnwrittenBonusFault : TokenRule {
  template <class Real>
  SPECLAB_HD PointRow<Real> bonus(BasicRow<Real> target) const {
    return {0, target.size};
  }
};

/// Uniforms on the grid {0, 1/levels, ...} and an acceptance draw that also accepts at equality: u <= p/q, so
/// that u = 0 keeps a token which the target excludes. 2^24 levels are the usual float.
struct ClosedComparisonFault : TokenRule {
  std::int32_t levels = 1 << 24;

  ClosedComparisonFault() = default;
  SPECLAB_HD explicit ClosedComparisonFault(std::int32_t grid) : levels(grid) {}

  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    const Real ratio = acceptance_ratio(target[token], draft[token], Real(1));
    const auto below = static_cast<std::int64_t>(Real(ratio * Real(levels)));
    return below >= levels ? Real(1) : Real(Real(below + 1) / Real(levels));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return sum_terms<Real>(0, draft.size,
                           [&](Token id) { return Real(draft[id] * acceptance(id, target, draft)); });
  }
};

/// The bonus comes from the draft's last row.
struct DraftBonusFault {};

template <class Targets, class Drafts, class Random>
SPECLAB_HD Verdict verify(const DraftBonusFault&, const Targets& targets, const Drafts& drafts,
                          const Token* drafted, std::int32_t gamma, Random& random) {
  const auto wrong = [&](std::int32_t i) {
    const auto row = targets(i);
    return i > 0 && i == gamma ? drafts(i - 1) : row;
  };
  return verify(TokenRule{}, wrong, drafts, drafted, gamma, random);
}

/// Target rows are read one position late: token i + 1 is verified with the context of token i.
struct LateContextFault {};

template <class Targets, class Drafts, class Random>
SPECLAB_HD Verdict verify(const LateContextFault&, const Targets& targets, const Drafts& drafts,
                          const Token* drafted, std::int32_t gamma, Random& random) {
  const auto late = [&](std::int32_t i) { return targets(i > 0 ? i - 1 : 0); };
  return verify(TokenRule{}, late, drafts, drafted, gamma, random);
}

/// Block verification that keeps a prefix with its own p_i, forgetting what a rejection leaves over.
struct BlockPrefixFault : BlockRule {
  template <class Real>
  SPECLAB_HD Real block_acceptance_probability(const Real&, const Real& prefix) const {
    return prefix;
  }
};

template <class Targets, class Drafts, class Random>
SPECLAB_HD Verdict verify(const BlockPrefixFault& rule, const Targets& targets, const Drafts& drafts,
                          const Token* drafted, std::int32_t gamma, Random& random) {
  return verify_block(rule, targets, drafts, drafted, gamma, random);
}

/// Recursive rejection whose later candidates are compared with the target instead of what is left of it.
struct StaleSiblingsFault : RecursiveRule {
  using RecursiveRule::RecursiveRule;

  template <class Real, class Random>
  Choice choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                std::uint16_t slot, Random& random) const {
    const auto compared_with = [target](const OwnedRow<Real>&) { return target; };
    return try_in_turn(candidates, target, draft, slot, random, compared_with);
  }
};

/// Drafts the argmax of the draft's row, and verifies it as if it had been drawn from that row: the tokens
/// were drawn from another distribution than the one that the acceptance test reads. (Transformers 5.23.0
/// does so for one kind of assistant.) A grown tree without branches is the chain of argmaxes, of at most 64
/// tokens as gamma is.
struct ClaimedDraftFault : GrownTreeRule {
  ClaimedDraftFault() : GrownTreeRule(1, 64) {}

  template <class Real>
  struct Claimed {
    OwnedRow<Real> target;
    BasicRow<Real> draft;

    Real acceptance_probability(Token token) const {
      return acceptance_ratio(target[token], draft[token], Real(1));
    }
    void refuse(Token) { subtract_draft(target.probabilities, draft, Real(1)); }
    BasicRow<Real> left() const { return target.view(); }
  };

  template <class View, class Random>
  TreeVerdict verify_tree(View& view, Random& random) const {
    using Real = typename View::Real;
    return walk_down(view, random, [&view](std::int32_t node) {
      return Claimed<Real>{copy_of(view.target(node)), view.draft(node)};
    });
  }
};

}  // namespace speclab
