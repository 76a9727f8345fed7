// Compiled once for each instruction set: Highway includes this file again and again.
#include "sim/models/logits.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/models/logits.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// Needs the line above.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace speclab::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The largest number; NaN when any is NaN.
float largest_logit(const float* logits, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto most = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto odd = hn::Zero(d);  // NaN once a NaN was seen
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(d, logits + i);
    most = hn::Max(most, v);
    odd = hn::IfThenElse(hn::Eq(v, v), odd, v);
  }
  float found = hn::GetLane(hn::MaxOfLanes(d, most));
  if (hn::GetLane(hn::SumOfLanes(d, odd)) != 0) return std::numeric_limits<float>::quiet_NaN();
  for (; i < count; ++i) {
    if (std::isnan(logits[i])) return logits[i];
    found = std::max(found, logits[i]);
  }
  return found;
}

void softmax_row(const float* logits, std::size_t count, double temperature, double* row) {
  const auto most = static_cast<double>(largest_logit(logits, count));
  if (!std::isfinite(most)) {
    std::fill(row, row + count, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  const double factor = 1 / temperature;
  const auto shift = hn::Set(d, most);
  const auto scale = hn::Set(d, factor);
  // exp is 0 below; also stands for -infinity.
  constexpr double least_exponent = -750;
  const auto least = hn::Set(d, least_exponent);
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  std::size_t i = 0;
  const auto one = [&](auto& sum) {
    const auto x = hn::PromoteTo(d, hn::LoadU(half, logits + i));
    const auto e = hn::Exp(d, hn::Max(hn::Mul(hn::Sub(x, shift), scale), least));
    hn::StoreU(e, d, row + i);
    sum = hn::Add(sum, e);
    i += lanes;
  };
  while (i + 2 * lanes <= count) {  // two side by side hide the latency of one
    one(first);
    one(second);
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
  for (; i < count; ++i) {
    row[i] = std::exp(std::max((static_cast<double>(logits[i]) - most) * factor, least_exponent));
    total += row[i];
  }
  const auto share = hn::Set(d, 1 / total);
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, row + at), share), d, row + at);
  for (; at < count; ++at) row[at] *= 1 / total;
}

}  // namespace speclab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace speclab {

HWY_EXPORT(softmax_row);

void softmax_of_logits(std::span<const float> logits, double temperature, std::span<double> row) {
  assert(logits.size() == row.size() && temperature > 0);
  HWY_DYNAMIC_DISPATCH(softmax_row)(logits.data(), logits.size(), temperature, row.data());
}

}  // namespace speclab
#endif
