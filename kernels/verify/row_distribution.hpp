// Turns one row of logits into log-probabilities in base 2, in the way that all exact kernels share.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// Scales for temperature 0, and the largest for others. `frozen_scale` gives weight 0 to logits that are
/// more than 2^-119 below the largest. `lowest_scale` marks that the lowest of tied ids has all probability.
inline constexpr float frozen_scale = 0x1p127F;
inline constexpr float lowest_scale = INFINITY;
inline constexpr float max_scale = 0x1p119F;

/// The scale and cut-off of a row: log2 of a token's probability is z * scale - log_sum, or minus infinity
/// below the cut-off.
struct RowScale {
  float scale;   ///< log2(e) / temperature
  float cutoff;  ///< minus infinity: none

  /// Returns whether the lowest id among the largest logits has all probability.
  SPECLAB_HD bool lowest() const { return scale == lowest_scale; }
};

inline constexpr double log2_e = 1.4426950408889634074;

/// log2 of a probability of 0, and the logarithm that an invalid row gives.
inline constexpr double log_of_zero = -HUGE_VAL;
inline constexpr double invalid_log = static_cast<double>(NAN);

/// Returns the scale of a row. A temperature that is negative, infinite or NaN makes the row invalid.
SPECLAB_HD inline RowScale row_scale(const VerifyBatch& batch, bool of_target, std::int64_t request,
                                     std::int32_t position) {
  if (batch.rows(of_target).kind == RowKind::probabilities) return {1, -INFINITY};
  const RowOptions& options = batch.options(of_target);
  constexpr auto per_nat = static_cast<float>(log2_e);
  RowScale scale{per_nat, -INFINITY};
  if (options.temperature != nullptr) {
    const float temperature = *batch.entry(options.temperature, of_target, request, position);
    const float frozen = batch.ties == Ties::lowest ? lowest_scale : frozen_scale;
    scale.scale = temperature == 0                            ? frozen
                  : temperature > 0 && temperature < INFINITY ? fminf(per_nat / temperature, max_scale)
                                                              : NAN;
  }
  if (options.cutoff != nullptr) scale.cutoff = *batch.entry(options.cutoff, of_target, request, position);
  if (scale.cutoff != scale.cutoff) scale.scale = NAN;
  return scale;
}

/// A part of a row's total weight: sum * 2^(reference * scale), where the reference is the part's largest
/// logit. An empty part has sum 0 and reference -inf; an invalid part has a sum of NaN.
struct PartialSum {
  float reference;
  float sum;
};

/// Returns 2^x, right to two units in the last place; below 2^-126 it may be 0. The GPU uses the instruction
/// inside exp2f alone, without the handling of subnormal results, which would take three more instructions.
SPECLAB_HD inline float power_of_two(float x) {
#if defined(__CUDA_ARCH__)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}

/// Returns log2 of x, right to 2^-22 or two units in the last place.
SPECLAB_HD inline float log_two(float x) {
#if defined(__CUDA_ARCH__)
  return __log2f(x);
#else
  return log2f(x);
#endif
}

/// Returns the weight of a logit relative to a reference. The reference is subtracted before the difference
/// is scaled: a scaled logit need not be a number, and its rounding would be a factor on the weight.
SPECLAB_HD inline float relative_weight(float logit, float scale, float reference) {
  return power_of_two((logit - reference) * scale);
}

/// log2 of a row's total weight: reference * scale + log_sum. NaN: the row is invalid. If all probability is
/// on one id, `top` is that id, reference its logit, and log_sum 0.
struct LogSum {
  float reference = NAN;
  Token top = no_token;
  double log_sum = invalid_log;

  SPECLAB_HD bool invalid() const { return !(log_sum - log_sum == 0); }
};

/// Returns the sum from the natural logarithm that was given with the logits.
SPECLAB_HD inline LogSum given_log_sum(float log_sum_exp, float scale) {
  const double value = static_cast<double>(log_sum_exp) * log2_e;
  const auto reference = static_cast<float>(value / static_cast<double>(scale));
  return {reference, no_token, value - static_cast<double>(reference) * static_cast<double>(scale)};
}

/// Returns log2 of a token's probability plus log_sum, for sums over many ids.
SPECLAB_HD inline float relative_log(float logit, float scale, const LogSum& sum) {
  return (logit - sum.reference) * scale;
}

/// Returns log2 of probability 0 in a row, or NaN if the row is invalid.
SPECLAB_HD inline double log_of_nothing(const LogSum& row) {
  if (row.invalid()) return invalid_log;
  return log_of_zero;
}

/// Returns ln of the sum as in RowOptions; at temperature 0 the largest logit.
SPECLAB_HD inline double natural_log_sum(const RowScale& scale, const LogSum& sum) {
  const auto reference = static_cast<double>(sum.reference);
  if (sum.top != no_token || scale.scale == frozen_scale) return reference;
  return (reference * static_cast<double>(scale.scale) + sum.log_sum) / log2_e;
}

/// Returns log2 of the probability of the one token that an acceptance draw decides, in double.
SPECLAB_HD inline double token_log_probability(double logit, const RowScale& scale, const LogSum& sum) {
  if (logit < static_cast<double>(scale.cutoff)) return log_of_nothing(sum);
  const double relative = (logit - static_cast<double>(sum.reference)) * static_cast<double>(scale.scale);
  const double least = scale.scale == frozen_scale ? 0 : -1075;  // in double lower powers are 0
  return relative < least ? log_of_zero : relative - sum.log_sum;
}

/// Returns the nearest number in [0, 1]; 0 for NaN. On the GPU this is part of the instruction that computes
/// x.
SPECLAB_HD inline float saturated(float x) {
#if defined(__CUDA_ARCH__)
  return __saturatef(x);
#else
  return fminf(fmaxf(x, 0), 1);
#endif
}

/// Returns (1 - 2^t)+, and 0 for NaN, without a branch, and without cancellation where 2^t is close to 1. The
/// relative error is at most 2.5e-6 with a power that is right to two units
/// (tests/kernels/verify/row_distribution_test.cpp): below `near` the difference is right to 2^-22 / (1 -
/// 2^near) = 2.1e-6; above it the polynomial, which has the least relative error there, is right to 1.7e-6.
SPECLAB_HD inline float one_minus_power(float t) {
  constexpr float near = -0.15625F;
  const float by_polynomial =
      saturated(-t * fmaf(fmaf(0x1.b49e0cp-5F, t, 0x1.ebb846p-3F), t, 0x1.62e40ap-1F));
  return t < near ? 1 - power_of_two(t) : by_polynomial;
}

}  // namespace speclab
