// Sums over the contexts of a run that measure its verification rule. Integers, as in sim/tally.hpp.
#pragma once

#include <cmath>
#include <cstdint>

namespace speclab {

/// A sum of values >= 0 over contexts, each rounded to the nearest quantum.
struct ContextSum {
  static constexpr double quantum = 0x1p-32;

  std::uint64_t quanta = 0;
  std::uint64_t contexts = 0;

  static std::uint64_t quanta_of(double value) {
    return static_cast<std::uint64_t>(std::llround(value / quantum));
  }

  void add(double value) {
    quanta += quanta_of(value);
    ++contexts;
  }
  double sum() const { return static_cast<double>(quanta) * quantum; }

  ContextSum& operator+=(const ContextSum& other) {
    quanta += other.quanta;
    contexts += other.contexts;
    return *this;
  }
  bool operator==(const ContextSum&) const = default;
};

/// Sums that only sim/rule_quality.hpp fills. "Examined" contexts are those of the positions that
/// verification reached.
struct RuleQuality {
  ContextSum optimal_transport_bound;  ///< over the contexts that rounds start from
  ContextSum divergence;               ///< total variation of target and draft, over examined contexts
  ContextSum distance;  ///< total variation of emitted distribution and target, over examined contexts

  RuleQuality& operator+=(const RuleQuality& other) {
    optimal_transport_bound += other.optimal_transport_bound;
    divergence += other.divergence;
    distance += other.distance;
    return *this;
  }
  bool operator==(const RuleQuality&) const = default;
};

}  // namespace speclab
