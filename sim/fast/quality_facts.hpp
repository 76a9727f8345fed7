// Facts about a context for measuring a rule (sim/rule_quality.hpp). Only a lossy rule's output distribution
// takes a pass over the rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/any_rule.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/transport_bound.hpp"
#include "sim/quality_sums.hpp"

namespace speclab {

/// The facts of one run, in units of ContextSum::quantum. Slow ones are stored by context. They depend only
/// on the context, so any thread may compute them.
template <class Rows>
class QualityFacts {
 public:
  /// `drafts` is the number of i.i.d. drafts at the first position. Rows and rule must outlive it.
  QualityFacts(const Rows& rows, const AnyRule& rule, std::int32_t drafts, bool lossless)
      : rows_(rows),
        rule_(rule),
        drafts_(drafts),
        lossless_(lossless),
        bounds_(drafts == 1 ? 0 : rows.contexts()),
        distances_(lossless ? 0 : rows.contexts()) {}

  bool lossless() const { return lossless_; }
  /// Returns the total variation between a lossy rule's output distribution at a position and the target, by
  /// passes over the rows.
  std::uint64_t distance(std::uint32_t context) const {
    return kept(distances_[context], [&] {
      thread_local QualityScratch scratch;
      thread_local std::vector<double> of_target;
      thread_local std::vector<double> of_draft;
      const Row target = rows_.row(context, target_side, of_target);
      const Row draft = rows_.row(context, draft_side, of_draft);
      return total_variation(rule_->emitted_distribution(target, draft, scratch), target);
    });
  }
  /// Returns the total variation between the two rows.
  std::uint64_t divergence(std::uint32_t context) const {
    const std::uint64_t whole = ContextSum::quanta_of(1);
    return whole - std::min(whole, rows_.overlap_quanta(context));
  }
  std::uint64_t bound(std::uint32_t context) const {
    if (drafts_ == 1) return rows_.overlap_quanta(context);
    return kept(bounds_[context], [&] {
      return transport_bound([&](double ratio, double& draft) { return rows_.total(context, ratio, draft); },
                             drafts_);
    });
  }

 private:
  using Kept = std::atomic<std::uint64_t>;  ///< value + 1, or 0 if unknown

  template <class Find>
  static std::uint64_t kept(Kept& value, const Find& find) {
    const std::uint64_t known = value.load(std::memory_order_relaxed);
    if (known > 0) return known - 1;
    const std::uint64_t found = ContextSum::quanta_of(find());
    value.store(found + 1, std::memory_order_relaxed);
    return found;
  }

  const Rows& rows_;
  const AnyRule& rule_;
  std::int32_t drafts_;
  bool lossless_;
  mutable std::vector<Kept> bounds_;
  mutable std::vector<Kept> distances_;
};

}  // namespace speclab
