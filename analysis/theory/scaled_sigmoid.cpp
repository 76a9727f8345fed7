#include "analysis/theory/scaled_sigmoid.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace speclab {

namespace {

std::vector<double> softmax(std::span<const double> logits) {
  const double largest = *std::ranges::max_element(logits);
  std::vector<double> row;
  double sum = 0;
  for (const double logit : logits) sum += row.emplace_back(std::exp(logit - largest));
  for (double& probability : row) probability /= sum;
  return row;
}

/// Returns the weights of Eq. 5.
std::vector<double> weights_of(std::span<const double> logits, double scale, SigmoidFormat format) {
  const double low = rounded_to(format, -scale);
  const double width = rounded_to(format, rounded_to(format, scale) - low);
  std::vector<double> weights;
  for (const double logit : logits) {
    const double above = rounded_to(format, rounded_to(format, logit) - low);
    const double scaled = rounded_to(format, above / width);
    weights.push_back(rounded_to(format, 1 / (1 + std::exp(-scaled))));
  }
  return weights;
}

std::size_t likeliest(const std::vector<double>& row) {
  return static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
}

}  // namespace

double rounded_to(SigmoidFormat format, double value) {
  if (format == SigmoidFormat::softmax || format == SigmoidFormat::f64) return value;
  if (format == SigmoidFormat::f32) return static_cast<float>(value);
  if (!std::isfinite(value) || value == 0) return value;
  const bool half = format == SigmoidFormat::f16;
  const int digits = half ? 11 : 8;
  const int smallest = half ? -24 : -133;  // exponent of the smallest positive number
  const double largest = half ? 65504 : std::ldexp(255, 120);
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - digits, smallest);
  const double nearest = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::abs(nearest) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                     : nearest;
}

ScaledSigmoid scaled_sigmoid(std::span<const double> target_logits, std::span<const double> draft_logits,
                             double scale, SigmoidFormat format) {
  assert(target_logits.size() == draft_logits.size() && !target_logits.empty());
  const std::vector<double> target = softmax(target_logits);
  const std::vector<double> draft = softmax(draft_logits);
  const bool exact = format == SigmoidFormat::softmax;
  const std::vector<double> p = exact ? target : weights_of(target_logits, scale, format);
  const std::vector<double> q = exact ? draft : weights_of(draft_logits, scale, format);

  ScaledSigmoid out;
  std::vector<double> emitted;
  double left = 0;      // weight of all replacements
  double rejected = 0;  // exactly 0 if no token can be rejected
  for (std::size_t id = 0; id < p.size(); ++id) {
    // A drafted token with equal weights is accepted; 0/0 occurs only where nothing is drafted.
    const double accepted = draft[id] > 0 ? draft[id] * std::min(1.0, rounded_to(format, p[id] / q[id])) : 0;
    rejected += draft[id] - accepted;
    emitted.push_back(accepted);
    left += std::max(0.0, rounded_to(format, p[id] - q[id]));
    if (std::isnan(p[id]) || std::isnan(q[id])) return out;
  }
  if (rejected > 0 && !(left > 0)) return out;
  out.valid = true;
  out.acceptance = 1 - rejected;
  for (std::size_t id = 0; id < p.size(); ++id) {
    if (left > 0) emitted[id] += rejected * std::max(0.0, rounded_to(format, p[id] - q[id])) / left;
    out.tv_to_target += std::abs(emitted[id] - target[id]) / 2;
    out.tv_to_draft += std::abs(emitted[id] - draft[id]) / 2;
    if (emitted[id] > 0) out.cross_entropy -= emitted[id] * std::log(target[id]);
  }
  out.greedy = likeliest(emitted) == likeliest(target);
  return out;
}

}  // namespace speclab
