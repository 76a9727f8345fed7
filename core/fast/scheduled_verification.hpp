// Verification of a scheduled prefix (core/rules/scheduled.hpp): first finds the length of the prefix, then
// verifies the prefix by its rule. Finding the length requests all tokens of the prefix; token verification
// alone would not.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "core/distribution/number.hpp"
#include "core/fast/block_verification.hpp"
#include "core/fast/drafted_nodes.hpp"
#include "core/fast/position_verification.hpp"
#include "core/rules/scheduled.hpp"
#include "core/rules/token.hpp"

namespace speclab {

template <class Real>
class ScheduledVerification {
 public:
  /// Returns the draft's largest probability in its row after a node.
  using DraftBest = std::function<Real(std::int32_t node)>;

  ScheduledVerification(const ScheduledRule& rule, DraftBest draft_best)
      : draft_best_(std::move(draft_best)), bar_(from_decimal<Real>(rule.survival)) {
    if (!rule.as_block) prefix_.template emplace<PositionVerification<Real, TokenRule>>(TokenRule{}, nullptr);
  }

  void begin(const DraftedNodes<Real>& drafted) {
    drafted_ = drafted;
    length_ = 0;
    survival_ = Real(1);
    settled_ = false;
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    for (; !settled_; ++length_) {
      if (length_ > 0 && drafted_.undrafted(length_ - 1)) return Wants::drafts;
      if (length_ < drafted_.shape->size()) {
        survival_ *= draft_best_(length_ - 1);
        if (!(survival_ < bar_)) continue;
      }
      settled_ = true;
      std::visit([&](auto& of_prefix) { of_prefix.begin(drafted_, length_); }, prefix_);
      break;
    }
    return std::visit([&](auto& of_prefix) { return of_prefix.advance(accept); }, prefix_);
  }
  /// Requests drafts until the length is decided; by then all tokens of the prefix are drafted.
  void wanted_drafts(std::vector<std::int32_t>& nodes) const { nodes.push_back(length_ - 1); }
  WantedTotal<Real> wanted_total() const {
    return std::visit([](const auto& of_prefix) { return of_prefix.wanted_total(); }, prefix_);
  }
  void answer(const Real& total) {
    std::visit([&](auto& of_prefix) { of_prefix.answer(total); }, prefix_);
  }
  RoundEnd<Real> end() const {
    return std::visit([](const auto& of_prefix) { return of_prefix.end(); }, prefix_);
  }

 private:
  DraftBest draft_best_;
  Real bar_;
  std::variant<BlockVerification<Real>, PositionVerification<Real, TokenRule>> prefix_;
  DraftedNodes<Real> drafted_{};
  std::int32_t length_ = 0;  ///< length of the prefix, as far as it is known
  Real survival_{1};
  bool settled_ = false;
};

}  // namespace speclab
