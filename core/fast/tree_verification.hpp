// Rules for trees of siblings drawn without replacement (core/rules/tree.hpp, core/rules/traversal.hpp) from
// totals (core/fast/drafted_nodes.hpp). core/rules/sibling_residual.hpp explains how four numbers replace the
// residual row after each refusal. After the last child of any node (TraversalVerification: of the
// context), a token is only drawn from the residual, which needs no total.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fast/drafted_nodes.hpp"
#include "core/rules/sibling_residual.hpp"

namespace speclab {

/// Smallest positive probability that the draft's rows may hold in floating point. The verification divides
/// the remaining target probability, which can be as small as the smallest one that is not negligible, by the
/// remaining draft probability.
inline constexpr double min_divisible = 0x1p-860;

/// Recursive rejection, from the context down.
template <class Real>
class TreeVerification {
 public:
  void begin(const DraftedNodes<Real>& drafted) {
    drafted_ = drafted;
    depth_ = 0;
    come_to(-1);
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    for (;;) {
      const std::int32_t child = drafted_.child(node_, refused_);
      if (child < 0) return Wants::nothing;
      if (drafted_.undrafted(child)) return Wants::drafts;
      siblings_.draft_left = drafted_.left[child];
      if (accept(child, siblings_.acceptance_probability(drafted_.ratio(child)))) {
        ++depth_;
        come_to(child);
        continue;
      }
      ++refused_;
      if (drafted_.child(node_, refused_) >= 0) return Wants::total;
      siblings_.taken = siblings_.taken_next();
      return Wants::nothing;
    }
  }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const {
    nodes.push_back(drafted_.child(node_, refused_));
  }
  WantedTotal<Real> wanted_total() const { return {node_, siblings_.taken_next()}; }
  void answer(const Real& total) { siblings_.refuse(total, Real(0)); }
  RoundEnd<Real> end() const {
    if (refused_ == 0) return {node_, depth_, depth_};
    return {node_, depth_, depth_ + 1, Use::replace, siblings_.taken};
  }

 private:
  void come_to(std::int32_t node) {
    node_ = node;
    refused_ = 0;
    siblings_ = {};
  }

  DraftedNodes<Real> drafted_{};
  std::int32_t node_ = -1;
  std::int32_t depth_ = 0;
  std::size_t refused_ = 0;  ///< number of its refused children
  SiblingResidual<Real> siblings_;
};

/// Traversal verification, from the leaves up.
template <class Real>
class TraversalVerification {
 public:
  void begin(const DraftedNodes<Real>& drafted) {
    drafted_ = drafted;
    path_.clear();
    push(-1, Real(1));
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    for (;;) {
      Visited& last = path_.back();
      const std::int32_t child = drafted_.child(last.node, last.refused);
      if (child >= 0 && last.siblings.reach > Real(0)) {
        if (drafted_.undrafted(child)) return Wants::drafts;
        last.siblings.draft_left = drafted_.left[child];
        push(child, last.siblings.acceptance_probability(drafted_.ratio(child)));
        continue;
      }
      if (last.node < 0 || accept(last.node, last.siblings.reach)) return Wants::nothing;
      path_.pop_back();
      Visited& parent = path_.back();
      ++parent.refused;
      if (parent.node >= 0 || drafted_.child(parent.node, parent.refused) >= 0) return Wants::total;
      parent.siblings.taken = parent.siblings.taken_next();
    }
  }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const {
    nodes.push_back(drafted_.child(path_.back().node, path_.back().refused));
  }
  WantedTotal<Real> wanted_total() const { return {path_.back().node, path_.back().siblings.taken_next()}; }
  void answer(const Real& total) { path_.back().siblings.refuse(total, Real(0)); }
  RoundEnd<Real> end() const {
    const Visited& last = path_.back();
    const auto depth = static_cast<std::int32_t>(path_.size()) - 1;
    if (drafted_.child(last.node, 0) < 0) return {last.node, depth, depth};
    return {last.node, depth, depth + 1, Use::replace, last.siblings.taken};
  }

 private:
  struct Visited {
    std::int32_t node;
    std::size_t refused;  ///< number of its refused children
    SiblingResidual<Real> siblings;
  };

  /// Enters a node. A node of reach 0 is refused, and its residual is not read.
  void push(std::int32_t node, const Real& reach) {
    SiblingResidual<Real> siblings;
    if (negligible(reach)) {
      siblings.reach = Real(0);
    } else {
      siblings = SiblingResidual<Real>::reached(reach);
    }
    path_.push_back({node, 0, siblings});
  }

  DraftedNodes<Real> drafted_{};
  std::vector<Visited> path_;
};

}  // namespace speclab
