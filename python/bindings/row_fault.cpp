// Highway includes this file once for each instruction set.
#include "python/bindings/row_fault.hpp"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "python/bindings/row_fault.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace speclab::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Returns the sum of a row, NaN or infinite if any number is, and sets `negative` if any number is below 0.
template <class Scalar>
double sum_of(const Scalar* row, std::size_t count, bool& negative) {
  const hn::ScalableTag<Scalar> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t additions =
      256;  // per lane, before the sum joins the total: a float's rounding stays below 2e-5
  double total = 0;
  Scalar least = 0;
  std::size_t i = 0;
  while (i + 4 * lanes <= count) {  // four sums at a time hide the latency of one
    auto a = hn::Zero(d), b = a, c = a, e = a, low = a;
    const std::size_t end = std::min(count, i + additions * 4 * lanes);
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      const auto first = hn::LoadU(d, row + i);
      const auto second = hn::LoadU(d, row + i + lanes);
      const auto third = hn::LoadU(d, row + i + 2 * lanes);
      const auto fourth = hn::LoadU(d, row + i + 3 * lanes);
      a = hn::Add(a, first);
      b = hn::Add(b, second);
      c = hn::Add(c, third);
      e = hn::Add(e, fourth);
      low = hn::Min(low, hn::Min(hn::Min(first, second), hn::Min(third, fourth)));
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e)))));
    least = std::min(least, hn::GetLane(hn::MinOfLanes(d, low)));
  }
  for (; i < count; ++i) {
    total += static_cast<double>(row[i]);
    least = std::min(least, row[i]);
  }
  negative = least < 0;
  return total;
}

double sum_of_floats(const float* row, std::size_t count, bool& negative) {
  return sum_of(row, count, negative);
}
double sum_of_doubles(const double* row, std::size_t count, bool& negative) {
  return sum_of(row, count, negative);
}

}  // namespace speclab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace speclab {

HWY_EXPORT(sum_of_floats);
HWY_EXPORT(sum_of_doubles);

namespace python {

namespace {

const char* fault_of_sum(double total, bool negative) {
  if (!(total - total == 0)) return "holds NaN or infinity";
  if (negative) return "holds a number below 0; probabilities are expected, not logits";
  if (!(total >= 1 - row_tolerance && total <= 1 + row_tolerance))
    return "does not sum to 1; probabilities are expected";
  return nullptr;
}

}  // namespace

const char* fault_of(BasicRow<float> row) {
  bool negative = false;
  const double total =
      HWY_DYNAMIC_DISPATCH(sum_of_floats)(row.probabilities, static_cast<std::size_t>(row.size), negative);
  return fault_of_sum(total, negative);
}

const char* fault_of(BasicRow<double> row) {
  bool negative = false;
  const double total =
      HWY_DYNAMIC_DISPATCH(sum_of_doubles)(row.probabilities, static_cast<std::size_t>(row.size), negative);
  return fault_of_sum(total, negative);
}

}  // namespace python

}  // namespace speclab
#endif
