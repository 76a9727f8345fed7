// Planted faults: mistakes of real implementations, as rules, to show that proofs and tests find them. Not
// for decoding.
#pragma once

#include <cstdint>

#include "core/round/verify.hpp"
#include "core/rules/block.hpp"
#include "core/rules/ensemble.hpp"
#include "core/rules/grown_tree.hpp"
#include "core/rules/recursive.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// Fault: accepts every drafted token.
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

/// Fault: after a rejection, samples the target instead of the residual.
struct ResampleTargetFault : TokenRule {
  template <class Real>
  SPECLAB_HD BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

/// Fault: target and draft are exchanged in the residual.
struct SwappedResidualFault : TokenRule {
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {draft, target, Real(1)};
  }
};

/// Fault: the acceptance draw compares p/q with the same uniform u that drew the token by inverse CDF. Given
/// x, u is uniform on [F(x-1), F(x)) of the draft, and the token is accepted iff u < p/q.
struct SharedNoiseFault : TokenRule {
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    Real below(0);
    for (Token id = 0; id < token; ++id) below += draft[id];
    const Real ratio = acceptance_ratio(target[token], draft[token], Real(1));
    return acceptance_ratio(Real(ratio - below), draft[token], Real(1));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return sum_terms<Real>(0, draft.size,
                           [&](Token id) { return Real(draft[id] * acceptance(id, target, draft)); });
  }
};

/// Fault: verifies against the mean of target and draft, an ensemble, but takes the bonus from the target.
/// This is correct for neither, and its output distribution depends on gamma.
struct EnsembleBonusFault : EnsembleRule {
  EnsembleBonusFault() : EnsembleRule(0.5) {}
};

/// Fault: uniforms lie on the grid {0, 1/levels, ...} and the acceptance draw also accepts at equality,
/// u <= p/q. Then u = 0 accepts a token that the target excludes. 2^24 levels are the usual float.
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

/// Fault: block verification accepts a prefix with p_i instead of h_i.
struct BlockPrefixFault : BlockRule {
  template <class Real>
  SPECLAB_HD Real block_acceptance_probability(const Real&, const Real& prefix) const {
    return prefix;
  }
};

/// Fault: recursive rejection compares later candidates with the target instead of the residual.
struct StaleSiblingsFault : RecursiveRule {
  using RecursiveRule::RecursiveRule;

  template <class Real, class Random>
  Choice choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                std::uint16_t slot, Random& random) const {
    const auto compared_with = [target](const OwnedRow<Real>&) { return target; };
    return try_in_turn(candidates, target, draft, slot, random, compared_with);
  }
};

/// Fault: drafts the argmax of the draft's row, and verifies it as if it had been drawn from that row: the
/// acceptance test reads another distribution than the one that drew the tokens. (Transformers 5.23.0 does so
/// for one kind of assistant.) The rule is a grown tree without branches: a chain of at most 64 argmaxes.
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
  TreeDecision verify_tree(View& view, Random& random) const {
    using Real = typename View::Real;
    return walk_down(view, random, [&view](std::int32_t node) {
      return Claimed<Real>{copy_of(view.target(node)), view.draft(node)};
    });
  }
};

}  // namespace speclab
