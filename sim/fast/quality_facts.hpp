// What measuring a rule asks of a context (sim/rule_quality.hpp), without a pass over its rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/fast/transport_bound.hpp"
#include "sim/quality_sums.hpp"

namespace speclab {

/// Of one run. Values are in units of ContextSum::quantum.
template <class Rows>
class QualityFacts {
 public:
  /// Of a context: total variation of what the rule emits and the target.
  using Distance = std::function<double(std::uint32_t context)>;

  /// `drafts`: i.i.d. drafts at the first position. `distance`: none of a lossless rule.
  QualityFacts(const Rows& rows, std::int32_t drafts, Distance distance)
      : rows_(rows),
        drafts_(drafts),
        distance_(std::move(distance)),
        bounds_(drafts == 1 ? 0 : rows.contexts()) {}

  bool lossless() const { return !distance_; }
  std::uint64_t distance(std::uint32_t context) const { return ContextSum::quanta_of(distance_(context)); }
  /// Total variation of the two rows.
  std::uint64_t divergence(std::uint32_t context) const {
    const std::uint64_t whole = ContextSum::quanta_of(1);
    return whole - std::min(whole, rows_.overlap_quanta(context));
  }
  /// The optimal transport bound, computed when it is first needed: a function of the context alone.
  std::uint64_t bound(std::uint32_t context) const {
    if (drafts_ == 1) return rows_.overlap_quanta(context);
    const std::uint64_t known = bounds_[context].load(std::memory_order_relaxed);
    if (known > 0) return known - 1;
    const std::uint64_t found = ContextSum::quanta_of(transport_bound(
        [&](double ratio, double& draft) { return rows_.total(context, ratio, draft); }, drafts_));
    bounds_[context].store(found + 1, std::memory_order_relaxed);
    return found;
  }

 private:
  const Rows& rows_;
  std::int32_t drafts_;
  Distance distance_;
  mutable std::vector<std::atomic<std::uint64_t>> bounds_;  ///< + 1, or 0
};

}  // namespace speclab
