// Entropies of the target's rows of a pair of n-gram models, each computed when it is first needed.
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

  /// sum p ln p: from that of the suffix, and so on. A function of the context alone, so that it does not
  /// matter which thread computes it.
  double minus_entropy(std::uint32_t context) const;

 private:
  static constexpr double unknown = 1;  ///< a sum is at most 0

  const NgramRows& rows_;
  mutable std::vector<std::atomic<double>> kept_;
};

}  // namespace speclab
