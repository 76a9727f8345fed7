// Verification by a rule that decides position by position (core/rules/by_position.hpp), from the drafted
// token's two probabilities and the context's PositionNumbers. It never waits for totals.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/fast/drafted_nodes.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

template <class Real, PositionForm Rule>
class PositionVerification {
 public:
  using Numbers = std::function<PositionNumbers<Real>(std::int32_t node)>;

  /// `numbers` returns the PositionNumbers of the rows after a node; empty if the rule needs none.
  PositionVerification(const Rule& rule, Numbers numbers) : rule_(rule), numbers_(std::move(numbers)) {}

  void begin(const DraftedNodes<Real>& drafted) { begin(drafted, drafted.shape->size()); }
  /// Starts verification of the first `length` tokens.
  void begin(const DraftedNodes<Real>& drafted, std::int32_t length) {
    drafted_ = drafted;
    gamma_ = length;
    at_ = 0;
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    for (; at_ < gamma_; ++at_) {
      if (drafted_.undrafted(at_)) return Wants::drafts;
      if (!accept(at_, acceptance(at_ - 1, drafted_.tokens[at_], drafted_.target[at_], drafted_.draft[at_])))
        break;
    }
    return Wants::nothing;
  }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const { nodes.push_back(at_); }
  WantedTotal<Real> wanted_total() const { return {at_ - 1, Real(1)}; }
  void answer(const Real&) {}
  RoundEnd<Real> end() const {
    const bool all = at_ == gamma_;
    const Correction correction = rule_.correction;
    RoundEnd<Real> end{at_ - 1, at_, all ? at_ : at_ + 1, all ? Use::bonus : Use::replace};
    if (correction == Correction::best) end.emitted = numbers(at_ - 1).best;
    if (all) return end;
    if constexpr (requires { rule_.template residual_scale<Real>(); }) {
      if (correction == Correction::residual) end.scale = rule_.template residual_scale<Real>();
    }
    if (correction == Correction::another) end.excluded = drafted_.tokens[at_];
    end.thinned = correction == Correction::thinned;
    return end;
  }

  /// Returns the acceptance probability of a token drafted after `node`.
  Real acceptance(std::int32_t node, Token token, const Real& p, const Real& q) const {
    return position_acceptance(rule_, numbers(node), token, p, q);
  }
  /// Returns the probability of keeping a token drawn from the target as the replacement after `node`; only
  /// for Correction::thinned.
  Real share(std::int32_t node, const Real& p, const Real& q) const {
    if constexpr (requires { rule_.share(numbers(node), p, q); }) return rule_.share(numbers(node), p, q);
    return Real(1);
  }

 private:
  PositionNumbers<Real> numbers(std::int32_t node) const {
    return numbers_ ? numbers_(node) : PositionNumbers<Real>{};
  }

  Rule rule_;
  Numbers numbers_;
  DraftedNodes<Real> drafted_{};
  std::int32_t gamma_ = 0;
  std::int32_t at_ = 0;
};

}  // namespace speclab
