// Verification by rules that decide position by position (core/fast/position_forms.hpp): it never waits for
// totals.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/fast/drafted_nodes.hpp"
#include "core/fast/position_forms.hpp"

namespace speclab {

template <class Real>
class PositionVerification {
 public:
  using Numbers = std::function<PositionNumbers<Real>(std::int32_t node)>;

  PositionVerification(PositionForms rule, Numbers numbers)
      : rule_(std::move(rule)),
        numbers_(std::move(numbers)),
        reads_rows_(reads_rows(rule_)),
        correction_(std::visit([](const auto& one) { return correction_of(one); }, rule_)),
        residual_scale_(residual_scale<Real>(rule_)) {}

  void begin(const DraftedNodes<Real>& drafted) { begin(drafted, drafted.shape->size()); }
  /// Of the first tokens alone.
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
    RoundEnd<Real> end{at_ - 1, at_, all ? at_ : at_ + 1, all ? Use::bonus : Use::replace};
    if (correction_ == Correction::best) end.emitted = numbers_(at_ - 1).best;
    if (all) return end;
    if (correction_ == Correction::residual) end.scale = residual_scale_;
    if (correction_ == Correction::another) end.excluded = drafted_.tokens[at_];
    end.thinned = correction_ == Correction::thinned;
    return end;
  }

  /// Of a token drafted after `node`.
  Real acceptance(std::int32_t node, Token token, const Real& p, const Real& q) const {
    const PositionNumbers<Real> here = numbers(node);
    return std::visit([&](const auto& rule) { return position_acceptance(rule, here, token, p, q); }, rule_);
  }
  /// P(a token drawn from the target to replace one after `node` is kept), where the round's end is thinned.
  Real share(std::int32_t node, const Real& p, const Real& q) const {
    return position_share(std::get<CascadeRule>(rule_), numbers(node), p, q);
  }

 private:
  PositionNumbers<Real> numbers(std::int32_t node) const {
    return reads_rows_ ? numbers_(node) : PositionNumbers<Real>{};
  }

  PositionForms rule_;
  Numbers numbers_;
  bool reads_rows_;
  Correction correction_;
  Real residual_scale_;
  DraftedNodes<Real> drafted_{};
  std::int32_t gamma_ = 0;
  std::int32_t at_ = 0;
};

}  // namespace speclab
