// The Gumbel coupling (core/rules/gumbel.hpp) from totals T (core/fast/drafted_nodes.hpp), without the
// integral F and without sorting the row.
//
// Let C(t) = sum max(p, t q) = t + T(t). The derivative of t / C(t) is U(t) / C(t)^2, where U(t) is the
// target's probability of the tokens with p/q > t, because C'(t) is the draft's probability of the others. A
// draft i is rejected with 1 - r_i / C(r_i), r_i = p_i / q_i, and then j is emitted with
//     p_j (F(r_j) - F(r_i))+ = integral from r_i of [r_j > t] p_j / C(t)^2 dt
//                            = integral from r_i of ([r_j > t] p_j / U(t)) d(t / C(t)).
// This is the distribution of a threshold t with t / C(t) uniform above r_i / C(r_i), and of a token of p
// among those with p/q > t. One number u decides everything: the draft is accepted if u < r_i / C(r_i);
// otherwise u is uniform above, and t is the solution of t / C(t) = u.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/distribution/ratio_order.hpp"
#include "core/fast/drafted_nodes.hpp"
#include "core/rules/gumbel.hpp"

namespace speclab {

/// Returns t / C(t) from T(t). For t = p/q of a drafted token this is the probability of accepting it.
template <class Real>
Real coupled_share(const Real& t, const Real& total) {
  return t > Real(0) ? Real(t / (t + total)) : Real(0);
}

template <class Real>
class GumbelVerification {
 public:
  void begin(const DraftedNodes<Real>& drafted) {
    drafted_ = drafted;
    gamma_ = drafted.shape->size();
    at_ = 0;
    answered_ = false;
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    for (; at_ < gamma_; ++at_) {
      if (drafted_.undrafted(at_)) return Wants::drafts;
      if (!answered_ && drafted_.ratio(at_) > Real(0)) return Wants::total;
      const bool accepted = accept(at_, answered_ ? coupled_share(drafted_.ratio(at_), total_) : Real(0));
      answered_ = false;
      if (!accepted) break;
    }
    return Wants::nothing;
  }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const { nodes.push_back(at_); }
  WantedTotal<Real> wanted_total() const { return {at_ - 1, drafted_.ratio(at_)}; }
  void answer(const Real& total) {
    total_ = total;
    answered_ = true;
  }
  RoundEnd<Real> end() const {
    if (at_ == gamma_) return {at_ - 1, at_, at_};
    RoundEnd<Real> end{at_ - 1, at_, at_ + 1, Use::replace, drafted_.ratio(at_)};
    end.coupled = true;
    return end;
  }

 private:
  DraftedNodes<Real> drafted_{};
  std::int32_t gamma_ = 0;
  std::int32_t at_ = 0;
  bool answered_ = false;
  Real total_{0};
};

/// Takes one Newton step from t, below the solution of t / C(t) = u, and returns the next estimate. T is
/// convex, so estimates rise until they reach the solution. `draft` is the draft's probability of the tokens
/// with p/q > t. The solution is at least u, because C is at least 1.
inline double coupled_step(double u, double t, double total, double draft) {
  const double slope = (1 - u) / u;  // t / C(t) = u where T(t) = slope t
  return t + (total - slope * t) / (draft + slope);
}

/// The threshold as a draw from a finite set: all thresholds above `from` between two neighbouring ratios
/// give the same row.
template <class Real>
struct CoupledThresholds {
  std::vector<Real> starts;
  OwnedRow<Real> weights{{}};

  CoupledThresholds(BasicRow<Real> target, BasicRow<Real> draft, const Real& from) : starts{from} {
    for (Token id = 0; id < target.size; ++id) {
      const ProbabilityRatio<Real> ratio(target[id], draft[id]);
      if (!ratio.infinite && from < ratio.value) starts.push_back(ratio.value);
    }
    std::sort(starts.begin(), starts.end());
    std::vector<Real> shares;
    for (const Real& start : starts)
      shares.push_back(coupled_share(start, total_probability(ResidualRow<Real>(target, draft, start))));
    shares.push_back(Real(1));
    std::vector<Real> differences;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const Real difference = shares[i + 1] - shares[i];
      differences.push_back(difference > Real(0) ? difference : Real(0));
    }
    weights = OwnedRow<Real>(std::move(differences));
  }
};

}  // namespace speclab
