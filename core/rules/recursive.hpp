// Several drafts for one position. A rule for `paths` i.i.d. drafts of one row defines
//     choose(candidates, target, draft, slots, random) -> Choice
// which returns the token to emit, and whether it is an accepted candidate. core/round/paths_round.hpp runs
// it position by position: paths that begin with the accepted token stay in play. Host only.
#pragma once

#include <cstdint>
#include <span>

#include "core/distribution/owned_row.hpp"
#include "core/random/random_source.hpp"
#include "core/round/verify.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

struct Choice {
  Token token;
  bool accepted;  ///< true: a candidate was accepted; false: `token` replaces them all
};

/// The common base of rules for several drafts: it holds their number.
struct SeveralPaths : BonusFromTarget {
  std::int32_t paths = 2;

  SeveralPaths() = default;
  explicit SeveralPaths(std::int32_t drafts) : paths(drafts) {}
};

/// Recursive rejection (Miao et al. 2024, "SpecInfer", Algorithm 2): tries the candidates in turn with min(1,
/// p/q); after each rejection p <- norm((p - q)+). Lossless.
struct RecursiveRule : SeveralPaths {
  using SeveralPaths::SeveralPaths;

  template <class Real, class Random>
  Choice choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                std::uint16_t slot, Random& random) const {
    const auto compared_with = [](const OwnedRow<Real>& left) { return left.view(); };
    return try_in_turn(candidates, target, draft, slot, random, compared_with);
  }

 protected:
  /// Tries candidates in turn. `compared_with(left)` returns the row with which a candidate is compared,
  /// given the target's residual `left`.
  template <class Real, class Random, class ComparedWith>
  static Choice try_in_turn(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                            std::uint16_t slot, Random& random, const ComparedWith& compared_with) {
    OwnedRow<Real> left = copy_of(target);
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      const Token token = candidates[j];
      const Draw acceptance_draw{Use::accept, static_cast<std::uint16_t>(slot + j)};
      const BasicRow<Real> wanted = compared_with(left);
      if (random.bernoulli(acceptance_draw, acceptance_ratio(wanted[token], draft[token], Real(1))))
        return {token, true};
      subtract_draft(left.probabilities, draft, Real(1));
    }
    return {categorical_or(random, Draw{Use::replace, slot}, left.view(), target), false};
  }
};

}  // namespace speclab
