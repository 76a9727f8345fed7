// Rules for k i.i.d. paths (core/round/paths_round.hpp) from totals (core/fast/drafted_nodes.hpp). Change:
// recursive rejection keeps the four numbers of core/rules/sibling_residual.hpp instead of a row, and K-SEQ
// draws its residual as a mixture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/distribution/number.hpp"
#include "core/fast/drafted_nodes.hpp"
#include "core/rules/by_position.hpp"
#include "core/rules/sibling_residual.hpp"

namespace speclab {

/// The paths that begin with the tokens accepted so far, and their next tokens. Node k * gamma + i is the
/// token of path k at position i.
template <class Real>
class PathsInPlay {
 public:
  void begin(const DraftedNodes<Real>& drafted) {
    drafted_ = drafted;
    const auto paths = static_cast<std::int32_t>(drafted.shape->children(-1).size());
    gamma_ = paths > 0 ? drafted.shape->size() / paths : 0;
    position_ = 0;
    alive_.clear();
    for (std::int32_t k = 0; k < paths; ++k) alive_.push_back(k * gamma_);
  }
  bool finished() const { return position_ == gamma_; }
  std::size_t candidates() const { return alive_.size(); }
  std::int32_t candidate(std::size_t j) const { return alive_[j] + position_; }
  /// Returns the last accepted node.
  std::int32_t node() const { return position_ == 0 ? -1 : alive_.front() + position_ - 1; }
  const DraftedNodes<Real>& drafted() const { return drafted_; }

  /// Returns whether candidates must still be drafted. Those not tried are drafted, too: if they equal the
  /// accepted token, their paths stay in play.
  bool undrafted() const { return drafted_.undrafted(candidate(0)); }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const {
    for (std::size_t j = 0; j < candidates(); ++j) nodes.push_back(candidate(j));
  }

  void accept(std::int32_t node) {
    const Token token = drafted_.tokens[node];
    std::erase_if(alive_, [&](std::int32_t path) { return drafted_.tokens[path + position_] != token; });
    ++position_;
  }
  /// Returns the end of the round, where a rejection is corrected from the residual of this scale and share.
  RoundEnd<Real> end(const Real& scale, const Real& residual_share) const {
    if (finished()) return {node(), position_, position_};
    return {node(), position_, position_ + 1, Use::replace, scale, residual_share};
  }

 private:
  DraftedNodes<Real> drafted_{};
  std::int32_t gamma_ = 0;
  std::int32_t position_ = 0;
  std::vector<std::int32_t> alive_;  ///< first node of each path in play
};

/// Recursive rejection (core/rules/recursive.hpp).
template <class Real>
class RecursiveVerification {
 public:
  void begin(const DraftedNodes<Real>& drafted) {
    paths_.begin(drafted);
    restart();
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    while (!paths_.finished()) {
      if (paths_.undrafted()) return Wants::drafts;
      const std::int32_t candidate = paths_.candidate(tried_);
      if (accept(candidate, siblings_.acceptance_probability(paths_.drafted().ratio(candidate)))) {
        paths_.accept(candidate);
        restart();
        continue;
      }
      // After the last candidate the residual is only drawn from, which needs no total.
      if (++tried_ < paths_.candidates()) return Wants::total;
      siblings_.taken = siblings_.taken_next();
      break;
    }
    return Wants::nothing;
  }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const { paths_.wanted_drafts(nodes); }
  WantedTotal<Real> wanted_total() const { return {paths_.node(), siblings_.taken_next()}; }
  void answer(const Real& total) { siblings_.refuse(total, Real(0)); }
  RoundEnd<Real> end() const { return paths_.end(siblings_.taken, Real(1)); }

 private:
  void restart() {
    tried_ = 0;
    siblings_ = {};
  }

  PathsInPlay<Real> paths_;
  std::size_t tried_ = 0;  ///< number of candidates tried at this position
  SiblingResidual<Real> siblings_;
};

/// K-SEQ (core/rules/k_seq.hpp). With beta = (1 - T(rho)) / rho and s = (1 - (1 - beta)^k) / beta, its
/// residual
///     p - s min(q, p / rho) = (1 - s / rho) p + (s / rho) (p - rho q)+
/// is a mixture of p and (p - rho q)+, of total 1 - s beta.
template <class Real>
class KSeqVerification {
 public:
  /// Returns rho* in the rows after a node, for this number of candidates.
  using Scale = std::function<Real(std::int32_t node, std::size_t candidates)>;

  explicit KSeqVerification(Scale scale) : scale_(std::move(scale)) {}

  void begin(const DraftedNodes<Real>& drafted) {
    paths_.begin(drafted);
    refused_ = false;
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    while (!refused_ && !paths_.finished()) {
      if (paths_.undrafted()) return Wants::drafts;
      rho_ = scale_(paths_.node(), paths_.candidates());
      const std::int32_t accepted = first_accepted(accept);
      refused_ = accepted < 0;
      if (refused_) return Wants::total;
      paths_.accept(accepted);
    }
    return Wants::nothing;
  }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const { paths_.wanted_drafts(nodes); }
  WantedTotal<Real> wanted_total() const { return {paths_.node(), rho_}; }
  void answer(const Real& total) {
    const Real beta = (Real(1) - total) / rho_;
    const Real taken = Real(1) - power_of(Real(Real(1) - beta), paths_.candidates());  // s beta
    const Real residual = beta > Real(0) ? Real(taken / beta / rho_ * total) : Real(0);
    residual_share_ = taken < Real(1) ? Real(residual / (Real(1) - taken)) : Real(1);
  }
  RoundEnd<Real> end() const { return paths_.end(rho_, residual_share_); }

 private:
  /// Returns the first accepted candidate, or -1.
  template <class Accept>
  std::int32_t first_accepted(const Accept& accept) const {
    for (std::size_t j = 0; j < paths_.candidates(); ++j) {
      const std::int32_t node = paths_.candidate(j);
      const Real& p = paths_.drafted().target[node];
      if (accept(node, acceptance_ratio(p, paths_.drafted().draft[node], rho_))) return node;
    }
    return -1;
  }

  Scale scale_;
  PathsInPlay<Real> paths_;
  bool refused_ = false;
  Real rho_{1};
  Real residual_share_{1};
};

}  // namespace speclab
