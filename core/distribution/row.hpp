// Rows of probabilities over a vocabulary, and sums over them in a fixed order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/host_device.hpp"
#include "core/token.hpp"

namespace speclab {

/// A non-owning view of `size` non-negative probabilities, one per token id. (std::span is awkward in device
/// code.) A probability row sums to 1 up to rounding; `categorical` never relies on it.
template <class Real>
struct BasicRow {
  using value_type = Real;
  const Real* probabilities = nullptr;
  std::int32_t size = 0;

  SPECLAB_HD const Real& operator[](Token id) const { return probabilities[id]; }
};

using Row = BasicRow<double>;

/// The unnormalised row (target - scale * draft)+, computed on access, without a buffer of V elements. scale
/// = 1 gives the residual of Leviathan et al. 2023, Alg. 1; scale = l gives A.5 read literally; scale = 0
/// gives the target itself. A NaN passes through, so that every sum over an invalid row notices it.
template <class Real>
struct ResidualRow {
  using value_type = Real;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  Real scale;
  std::int32_t size;

  SPECLAB_HD ResidualRow(BasicRow<Real> target_row, BasicRow<Real> draft_row, Real draft_scale)
      : target(target_row), draft(draft_row), scale(draft_scale), size(target_row.size) {}

  SPECLAB_HD Real operator[](Token id) const {
    const Real difference = target[id] - scale * draft[id];
    return difference <= Real(0) ? Real(0) : difference;
  }
};

/// The unnormalised row (scale * target - draft)+, computed on access: the residual if the prefix was reached
/// with probability `scale` (block verification).
template <class Real>
struct ScaledResidual {
  using value_type = Real;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  Real scale;
  std::int32_t size;

  SPECLAB_HD Real operator[](Token id) const {
    const Real difference = scale * target[id] - draft[id];
    return difference <= Real(0) ? Real(0) : difference;
  }
};

/// A row with all probability on one id.
template <class Real>
struct PointRow {
  using value_type = Real;
  Token id;
  std::int32_t size;
  SPECLAB_HD Real operator[](Token other) const { return other == id ? Real(1) : Real(0); }
};

/// Returns the lowest id of largest probability, or `invalid_token` if any probability is NaN. Floating point
/// computes eight partial maxima, which compilers vectorise, and then searches for the largest.
template <class Weights>
SPECLAB_HD Token argmax(const Weights& weights) {
  using Real = typename Weights::value_type;
  Token best = 0;
  if constexpr (std::is_floating_point_v<Real>) {
    if (weights.size == 0) return best;
    constexpr int lanes = 8;
    Real largest[lanes];
    bool sound[lanes];
    for (int k = 0; k < lanes; ++k) {
      largest[k] = weights[0];
      sound[k] = weights[0] == weights[0];
    }
    const auto examine = [&](Token id, int k) {
      const Real probability = weights[id];
      sound[k] = sound[k] & (probability == probability);
      largest[k] = probability > largest[k] ? probability : largest[k];
    };
    Token id = 0;
    for (; id + lanes <= weights.size; id += lanes) {
      for (int k = 0; k < lanes; ++k) examine(id + k, k);
    }
    for (int k = 0; k < lanes && id < weights.size; ++id, ++k) examine(id, k);
    for (int k = 0; k < lanes; ++k) {
      if (!sound[k]) return invalid_token;
      if (largest[k] > largest[0]) largest[0] = largest[k];
    }
    while (weights[best] < largest[0]) ++best;
  } else {
    for (Token id = 0; id < weights.size; ++id) {
      if (weights[id] > weights[best]) best = id;
    }
  }
  return best;
}

/// Returns the sum of term(first) .. term(last-1). Floating point uses eight partial sums in a fixed order:
/// compilers may vectorise them without permission to reorder arithmetic, so every build gives the same bits.
template <class Real, class Term>
SPECLAB_HD Real sum_terms(std::int32_t first, std::int32_t last, const Term& term) {
  if constexpr (std::is_floating_point_v<Real>) {
    constexpr int lanes = 8;
    Real lane[lanes] = {};
    std::int32_t i = first;
    for (; i + lanes <= last; i += lanes) {
      for (int k = 0; k < lanes; ++k) lane[k] += term(i + k);
    }
    for (int k = 0; k < lanes && i < last; ++i, ++k) lane[k] += term(i);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  } else {
    Real total(0);
    for (std::int32_t i = first; i < last; ++i) total += term(i);
    return total;
  }
}

/// Returns the total weight of a row (or of anything with `value_type`, `size` and operator[]).
template <class Weights>
SPECLAB_HD typename Weights::value_type total_probability(const Weights& weights) {
  using Real = typename Weights::value_type;
  return sum_terms<Real>(0, weights.size, [&weights](std::int32_t i) { return weights[i]; });
}

}  // namespace speclab
