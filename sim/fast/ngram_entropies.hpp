// Entropies of the target's rows in a pair of n-gram models, computed at first use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/fast/ngram_rows.hpp"

namespace speclab {

class NgramEntropies {
 public:
  /// The rows must outlive it.
  explicit NgramEntropies(const NgramRows& rows) : rows_(rows), kept_(rows.contexts()) {
    for (std::atomic<double>& one : kept_) one.store(unknown, std::memory_order_relaxed);
  }
  static double bytes_for(double contexts) { return contexts * sizeof(std::atomic<double>); }
  std::size_t bytes() const { return kept_.size() * sizeof(std::atomic<double>); }

  /// Returns sum p ln p, computed recursively from that of the suffix. It depends only on the context, so any
  /// thread may compute it.
  double minus_entropy(std::uint32_t context) const;

 private:
  static constexpr double unknown = 1;  ///< marks an unknown value; sums are at most 0

  const NgramRows& rows_;
  mutable std::vector<std::atomic<double>> kept_;
};

}  // namespace speclab
