// What measuring a lossless rule asks of a context (sim/rule_quality.hpp), from totals.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/fast/transport_bound.hpp"
#include "sim/quality_sums.hpp"

namespace speclab {

/// Of one run. Values are in units of ContextSum::quantum.
template <class Rows>
class QualityFacts {
 public:
  /// `drafts`: i.i.d. drafts at the first position.
  QualityFacts(const Rows& rows, std::int32_t drafts)
      : rows_(rows), drafts_(drafts), bounds_(drafts == 1 ? 0 : rows.contexts()) {}

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
  mutable std::vector<std::atomic<std::uint64_t>> bounds_;  ///< + 1, or 0
};

}  // namespace speclab
