// Fuzzy speculative decoding (Holsman, Huang and Dhingra 2025, "Fuzzy speculative decoding for a tunable
// accuracy-runtime tradeoff", arXiv 2502.20704): accepts every drafted token where the two rows differ
// little. The correction is that of YichiCS/Secure-Speculative-Decoding, securesd/verifier/fsd.py and
// methods.py.
#pragma once

#include <cmath>

#include "core/distribution/number.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

enum class Nearness { js, kl, tv };

/// Returns KL(p || q) in nats; infinite if q is 0 for a token of p.
template <class Rows>
double kullback_leibler(const Rows& rows) {
  return rows.sum([](double p, double q) { return p > 0 ? p * std::log(p / q) : p; });
}

/// Returns the mean of both rows' KL divergences from the rows' mean, in nats.
template <class Rows>
double jensen_shannon(const Rows& rows) {
  return rows.sum([](double p, double q) {
    const double middle = (p + q) / 2;
    const auto term = [middle](double x) { return x > 0 ? x * std::log(x / middle) : x; };
    return (term(p) + term(q)) / 2;
  });
}

/// Accepts iff the divergence of the rows is at most `threshold`; after a rejection samples the target.
/// Lossy. JS and KL are real functions, computed in double for any arithmetic. Host only.
struct FuzzyRule : ByPosition<FuzzyRule> {
  static constexpr Correction correction = Correction::target;
  Nearness divergence = Nearness::js;
  double threshold = 0.2;

  FuzzyRule() = default;
  FuzzyRule(Nearness measure, double most) : divergence(measure), threshold(most) {}

  /// Returns 1 if the rows' divergence is at most `threshold`, else 0.
  template <class Rows>
  PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    using Real = typename Rows::Real;
    const bool near = divergence == Nearness::tv   ? rows.total_variation() <= from_decimal<Real>(threshold)
                      : divergence == Nearness::kl ? kullback_leibler(rows) <= threshold
                                                   : jensen_shannon(rows) <= threshold;
    return {near ? Real(1) : Real(0)};
  }
  template <class Real>
  Real acceptance_probability(const PositionNumbers<Real>& here, Token, const Real&, const Real& q) const {
    return q > Real(0) ? here.number : Real(0);
  }
};

}  // namespace speclab
