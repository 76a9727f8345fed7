// Rules that verify against the target's argmax and let near misses pass. Both emit the argmax after a
// rejection and as the bonus: they stand beside greedy decoding. Sources of the decisions and defaults:
// YichiCS/Secure-Speculative-Decoding, securesd/verifier/mars.py and bild.py, and methods.py beside them.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "core/rules/greedy.hpp"

namespace speclab {

/// What both have in common: corrections, bonus and plain decoding are the target's argmax.
struct NearGreedy {
  template <class Real>
  PointRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return plain(target);
  }
  template <class Real>
  PointRow<Real> bonus(BasicRow<Real> target) const {
    return plain(target);
  }
  template <class Real>
  PointRow<Real> plain(BasicRow<Real> target) const {
    return {argmax(target), target.size};
  }
};

/// Margin-aware verification (Song et al. 2026, "MARS", arXiv 2601.15498): accept the target's best token, or
/// the second best where the ratio of their logits, z_2/z_1, is above theta. A row fixes its logits up to a
/// constant only, on which the ratio depends: here z = log p + `log_sum_exp`, the logarithm of the sum of all
/// exp(z). Lossy; computed in double whatever the arithmetic. Host only.
struct MarsRule : NearGreedy {
  using SaidByPosition = MarsRule;
  double theta = 0.9;
  double log_sum_exp = 20;

  MarsRule() = default;
  MarsRule(double ratio, double constant) : theta(ratio), log_sum_exp(constant) {}

  /// The two tokens that it accepts, which are one where the second best is not near enough; the first is the
  /// argmax, `no_token` in an invalid row.
  template <class Real>
  std::pair<Token, Token> accepted(BasicRow<Real> target) const {
    const Token best = argmax(target);
    Token second = no_token;
    for (Token id = 0; id < target.size; ++id) {
      if (id != best && (second < 0 || target[id] > target[second])) second = id;
    }
    if (best < 0 || second < 0 ||
        !near(static_cast<double>(target[best]), static_cast<double>(target[second])))
      second = best;
    return {best, second};
  }
  /// Of the two largest probabilities.
  bool near(double best, double second) const {
    return second > 0 && (std::log(second) + log_sum_exp) / (std::log(best) + log_sum_exp) > theta;
  }
  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real>) const {
    return [both = accepted(target)](Token token) {
      return both.first >= 0 && (token == both.first || token == both.second) ? Real(1) : Real(0);
    };
  }
  template <class Real>
  Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptances(target, draft)(token);
  }
  template <class Real>
  Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const auto accepts = acceptances(target, draft);
    return sum_terms<Real>(0, draft.size, [&](Token id) { return Real(draft[id] * accepts(id)); });
  }
};

/// Big little decoder (Kim et al. 2023, "Speculative decoding with big little decoder"): where the draft is
/// unsure, max q < fallback, the target takes over; where the target finds the token unlikely, -log p(x) >
/// rollback, and would not choose it, the token is taken back. Lossy. The rollback's bar exp(-rollback) is
/// computed in double. Host only. (The code looks at the first unlikely token alone; a later one differs only
/// where an argmax has less than that bar, which takes e^8 tokens.)
struct BildRule : NearGreedy {
  using SaidByPosition = BildRule;
  double fallback = 0.35;
  double rollback = 8;

  BildRule() = default;
  BildRule(double confidence, double surprise) : fallback(confidence), rollback(surprise) {}

  /// Whether the draft is sure enough.
  template <class Real>
  bool drafts(BasicRow<Real> draft) const {
    const Token sure = argmax(draft);
    return sure >= 0 && is_sure(static_cast<double>(draft[sure]));
  }
  bool is_sure(double likeliest) const { return !(likeliest < fallback); }
  /// The least probability of a token that is not taken back.
  double bar() const { return std::exp(-rollback); }

  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const {
    const Token best = argmax(target);
    return [target, best, accepts = best >= 0 && drafts(draft), least = bar()](Token token) {
      return accepts && (token == best || static_cast<double>(target[token]) >= least) ? Real(1) : Real(0);
    };
  }
  template <class Real>
  Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptances(target, draft)(token);
  }
  template <class Real>
  Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const auto accepts = acceptances(target, draft);
    return sum_terms<Real>(0, draft.size, [&](Token id) { return Real(draft[id] * accepts(id)); });
  }
};

}  // namespace speclab
