// Block verification (core/rules/block.hpp) from totals T (core/fast/drafted_nodes.hpp). Change: Z(s) = sum
// (s p - q)+ is computed as s T(1/s). Prefixes are tried from the longest until one is accepted. No total is
// requested where s = 1, because Z / (Z + 1 - s) is 1 there.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "core/fast/drafted_nodes.hpp"
#include "core/rules/block.hpp"

namespace speclab {

/// `Rule` is BlockRule, or a rule that differs from it only in when it accepts all gamma tokens.
template <class Real, class Rule = BlockRule>
class BlockVerification {
 public:
  explicit BlockVerification(const Rule& rule = {}) : rule_(rule) {}

  void begin(const DraftedNodes<Real>& drafted) { begin(drafted, drafted.shape->size()); }
  /// Starts verification of the first `length` tokens.
  void begin(const DraftedNodes<Real>& drafted, std::int32_t length) {
    drafted_ = drafted;
    gamma_ = length;
    assert(gamma_ <= max_block);
    prefix_[0] = Real(1);
    read_ = 0;
    at_ = gamma_;
    answered_ = false;
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    for (; read_ < gamma_; ++read_) {
      if (drafted_.undrafted(read_)) return Wants::drafts;
      prefix_[read_ + 1] =
          acceptance_ratio(Real(prefix_[read_] * drafted_.target[read_]), drafted_.draft[read_], Real(1));
    }
    for (; at_ > 0; --at_) {
      const Real& prefix = prefix_[at_];
      if (!negligible(prefix) && prefix < Real(1) && at_ < gamma_ && !answered_) return Wants::total;
      // The probability is at most `prefix`. A negligible `prefix` replaces it.
      const Real probability = at_ == gamma_ ? rule_.whole_block_acceptance(prefix, [&] { return ratio(); })
                               : answered_ ? rule_.block_acceptance_probability(Real(prefix * total_), prefix)
                                           : prefix;
      answered_ = false;
      if (accept(at_ - 1, probability)) break;
    }
    return Wants::nothing;
  }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const { nodes.push_back(read_); }
  WantedTotal<Real> wanted_total() const { return {at_ - 1, Real(Real(1) / prefix_[at_])}; }
  void answer(const Real& total) {
    total_ = total;
    answered_ = true;
  }
  RoundEnd<Real> end() const {
    if (at_ == gamma_) return {at_ - 1, at_, at_};
    return {at_ - 1, at_, at_ + 1, Use::replace, Real(Real(1) / prefix_[at_])};
  }

 private:
  Real ratio() const {
    Real product(1);
    for (std::int32_t i = 0; i < gamma_; ++i) product *= drafted_.ratio(i);
    return product;
  }

  Rule rule_;
  DraftedNodes<Real> drafted_{};
  std::int32_t gamma_ = 0;
  std::int32_t read_ = 0;  ///< number of tokens whose probabilities are in `prefix_`
  std::int32_t at_ = 0;    ///< length of the prefix that is decided next
  bool answered_ = false;
  Real total_{0};
  Real prefix_[max_block + 1];
};

}  // namespace speclab
