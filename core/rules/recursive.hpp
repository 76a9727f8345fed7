// Several drafts for one position. A rule for `paths` i.i.d. drafts of one row says
//     choose(candidates, target, draft, slots, chance) -> Choice
// the token to emit, and whether it is a candidate that was kept. core/paths_round.hpp runs it along drafted
// paths: those that begin with the kept token stay in play. Host only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random/random_source.hpp"
#include "core/distribution/owned_row.hpp"
#include "core/rules/token.hpp"
#include "core/round/verify.hpp"

namespace speclab {

struct Choice {
  Token token;
  bool kept;  ///< a candidate was kept; else `token` replaces them all
};

/// What rules for several drafts have in common: how many there are.
struct SeveralPaths : BonusFromTarget {
  std::int32_t paths = 2;

  SeveralPaths() = default;
  explicit SeveralPaths(std::int32_t drafts) : paths(drafts) {}
};

/// Recursive rejection (Miao et al. 2024, "SpecInfer", Algorithm 2): try the candidates in turn with
/// min(1, p/q); after each rejection p <- norm((p - q)+). Lossless.
struct RecursiveRule : SeveralPaths {
  using SeveralPaths::SeveralPaths;

  template <class Real, class Chance>
  Choice choose(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                std::uint16_t slot, Chance& chance) const {
    const auto judged_by = [](const OwnedRow<Real>& left) { return left.view(); };
    return try_in_turn(candidates, target, draft, slot, chance, judged_by);
  }

 protected:
  /// `judged_by(left)` is the row that a candidate is held against, given what is left of the target.
  template <class Real, class Chance, class JudgedBy>
  static Choice try_in_turn(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft,
                            std::uint16_t slot, Chance& chance, const JudgedBy& judged_by) {
    OwnedRow<Real> left = copy_of(target);
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      const Token token = candidates[j];
      const Draw coin{Use::accept, static_cast<std::uint16_t>(slot + j)};
      const BasicRow<Real> wanted = judged_by(left);
      if (chance.flip(coin, acceptance_ratio(wanted[token], draft[token], Real(1)))) return {token, true};
      subtract_draft(left.mass, draft, Real(1));
    }
    return {pick_or(chance, Draw{Use::replace, slot}, left.view(), target), false};
  }
};

}  // namespace speclab
