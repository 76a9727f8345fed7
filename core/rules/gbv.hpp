// Greedy multi-path block verification (Thomas and Pal 2026, arXiv 2602.16961; the authors' README describes
// the verifier `gbv`, and public copies of verifier.py are the source). The rule selects the highest-ranked
// of k i.i.d. paths, and verifies it as a block drawn from the distribution of the selected path. Lossless.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/fast/fast_ratio_order.hpp"
#include "core/rules/recursive.hpp"

namespace speclab {

/// One step along the selected path: its token, and the row from which this token was drawn, given the tokens
/// before it.
template <class Real>
struct SelectedStep {
  Token token;
  OwnedRow<Real> distribution;
};

/// Ranks paths by p/q of their first token, then of their second, and so on; equal ratios by the lower id.
/// Let A be the draft's probability of paths ranked below the prefix selected so far, x that of the prefix
/// itself, and F the draft's probability of the tokens up to one in that order. The selected path continues
/// with token y with probability
///     ((A + x F(y))^k - (A + x F(y-))^k) / ((A + x)^k - A^k).
/// Both A and x are stored divided by A + x, which does not change the quotient.
template <class Real>
class PathRanking {
 public:
  explicit PathRanking(std::int32_t paths) : paths_(paths) {}

  /// Selects the next token. `candidates` are the next tokens of the paths that begin with the selected
  /// prefix.
  SelectedStep<Real> step(std::span<const Token> candidates, BasicRow<Real> target, BasicRow<Real> draft) {
    const Real all = total_probability(target) + total_probability(draft);
    // An invalid row has no order; verification reports it.
    if (!(all - all == Real(0))) return {candidates.front(), copy_of(draft)};
    std::vector<Real> weights(static_cast<std::size_t>(draft.size), Real(0));
    Token selected = no_token;
    Real below(0);
    Real up_to(0);
    for (const Token id : fast_by_ratio(target, draft)) {
      const Real low = below_ + here_ * up_to;
      up_to += draft[id];
      const Real high = below_ + here_ * up_to;
      // Computes (high^k - low^k) / (high - low) without the difference.
      Real sum(1);
      Real power(1);
      for (std::int32_t j = 1; j < paths_; ++j) {
        power *= high;
        sum = sum * low + power;
      }
      weights[static_cast<std::size_t>(id)] = draft[id] * sum;
      if (std::find(candidates.begin(), candidates.end(), id) != candidates.end()) {
        selected = id;
        below = low;
      }
    }
    normalise(weights);
    below_ = std::move(below);
    here_ *= draft[selected];
    const Real total = below_ + here_;
    if (total > Real(0)) {
      below_ /= total;
      here_ /= total;
    }
    return {selected, OwnedRow<Real>(std::move(weights))};
  }

 private:
  std::int32_t paths_;
  Real below_{0};  ///< A
  Real here_{1};   ///< x
};

/// The rule itself; core/round/paths_round.hpp selects along the path and verifies it.
struct GbvRule : SeveralPaths {
  using SeveralPaths::SeveralPaths;

  template <class Real>
  PathRanking<Real> selection() const {
    return PathRanking<Real>(paths);
  }
};

}  // namespace speclab
