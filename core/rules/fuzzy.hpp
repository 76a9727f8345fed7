// Fuzzy speculative decoding (Holsman, Huang and Dhingra 2025, "Fuzzy speculative decoding for a tunable
// accuracy-runtime tradeoff", arXiv 2502.20704): accept whatever was drafted where the rows are near. The
// correction is that of YichiCS/Secure-Speculative-Decoding, securesd/verifier/fsd.py and methods.py.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/distribution/number.hpp"
#include "core/rules/token.hpp"

namespace speclab {

enum class Nearness { js, kl, tv };

/// KL(p || q) in nats; infinite where q misses a token of p.
template <class Real>
double kullback_leibler(BasicRow<Real> p, BasicRow<Real> q) {
  return sum_terms<double>(0, p.size, [&](Token id) {
    const auto a = static_cast<double>(p[id]);
    return a > 0 ? a * std::log(a / static_cast<double>(q[id])) : a;
  });
}

/// The mean of both rows' KL divergences from the rows' mean, in nats.
template <class Real>
double jensen_shannon(BasicRow<Real> p, BasicRow<Real> q) {
  return sum_terms<double>(0, p.size, [&](Token id) {
    const auto a = static_cast<double>(p[id]);
    const auto b = static_cast<double>(q[id]);
    const double middle = (a + b) / 2;
    const auto term = [middle](double x) { return x > 0 ? x * std::log(x / middle) : x; };
    return (term(a) + term(b)) / 2;
  });
}

/// Accept iff the divergence of the rows is at most `threshold`; after a rejection sample the target. Lossy.
/// JS and KL are real functions, computed in double whatever the arithmetic. Host only.
struct FuzzyRule : BonusFromTarget {
  using SaidByPosition = FuzzyRule;
  Nearness divergence = Nearness::js;
  double threshold = 0.2;

  FuzzyRule() = default;
  FuzzyRule(Nearness measure, double most) : divergence(measure), threshold(most) {}

  template <class Real>
  bool near(BasicRow<Real> target, BasicRow<Real> draft) const {
    if (divergence == Nearness::tv) {
      return total_variation(target, draft) <= from_decimal<Real>(threshold);
    }
    return (divergence == Nearness::kl ? kullback_leibler(target, draft) : jensen_shannon(target, draft)) <=
           threshold;
  }
  template <class Real>
  Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return draft[token] > Real(0) && near(target, draft) ? Real(1) : Real(0);
  }
  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const {
    return [draft, all = near(target, draft)](Token token) {
      return all && draft[token] > Real(0) ? Real(1) : Real(0);
    };
  }
  template <class Real>
  Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return near(target, draft) ? total_probability(draft) : Real(0);
  }
  template <class Real>
  BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

}  // namespace speclab
