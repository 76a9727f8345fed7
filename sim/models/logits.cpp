// Highway includes this file again and again, and so compiles it once for each instruction set.
#include "sim/models/logits.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/models/logits.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// These need the include above.
#include <hwy/contrib/algo/find-inl.h>
#include <hwy/contrib/algo/transform-inl.h>
#include <hwy/contrib/math/math-inl.h>

#include "core/distribution/transforms.hpp"

#ifndef SPECLAB_LOGITS_ONCE
#define SPECLAB_LOGITS_ONCE
namespace speclab {
/// Bounds on probabilities. One pass over a row sums, for each bound, the probabilities above it.
using PBounds = std::array<double, 3>;
}  // namespace speclab
#endif

HWY_BEFORE_NAMESPACE();
namespace speclab::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Returns the largest number; NaN if any is NaN.
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

/// Rounds to a multiple of 2^(k - 52), for large = 1.5 * 2^k and smaller numbers.
template <class D, class Numbers>
Numbers rounded(D d, Numbers numbers, double large) {
  return hn::Sub(hn::Add(numbers, hn::Set(d, large)), hn::Set(d, large));
}

/// Writes row[i] = exp((logits[i] - most) / temperature); returns their sum. The last few are computed as all
/// others are, among logits of -infinity. Each number is split into a multiple of 2^-30 and a rest that is
/// rounded to a multiple of 2^-60. The sums of both are exact for up to 2^22 numbers, so that a row does not
/// depend on the places of its logits.
double exponentials(const float* logits, std::size_t count, float most, double temperature, double* row) {
  const hn::ScalableTag<float> f;
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(f);
  const std::size_t wide = hn::Lanes(d);
  const double factor = 1 / temperature;
  const auto near = static_cast<float>(factor);
  const auto largest = hn::Set(f, most);
  const auto scale = hn::Set(f, near);
  const auto scale_rest = hn::Set(f, static_cast<float>(factor - static_cast<double>(near)));
  constexpr float min_exponent = -87;  // the smallest f32 is e^-87.3
  const auto least = hn::Set(f, min_exponent);
  HWY_ALIGN std::array<float, HWY_MAX_BYTES / sizeof(float)> some;
  auto high = hn::Zero(d);
  auto low = hn::Zero(d);
  const auto put = [&](const float* from, double* to) HWY_ATTR {
    // The exponent is x = (logit - most) * factor. Knuth's two-sum, and products with their error by fused
    // multiply-add, give the rounding error `rest` of x: e^(x + rest) = e^x (1 + rest).
    const auto logit = hn::LoadU(f, from);
    const auto difference = hn::Sub(logit, largest);
    const auto back = hn::Sub(difference, logit);
    const auto lost = hn::Sub(hn::Sub(logit, hn::Sub(difference, back)), hn::Add(largest, back));
    const auto x = hn::Mul(difference, scale);
    const auto rest =
        hn::MulAdd(lost, scale, hn::MulAdd(difference, scale_rest, hn::MulSub(difference, scale, x)));
    const auto e = hn::Exp(f, hn::Max(x, least));
    hn::Store(hn::IfThenElseZero(hn::Gt(x, least), hn::MulAdd(e, rest, e)), f, some.data());
    for (std::size_t k = 0; k < lanes; k += wide) {
      const auto promoted = hn::PromoteTo(d, hn::LoadU(half, some.data() + k));
      hn::StoreU(promoted, d, to + k);
      const auto coarse = rounded(d, promoted, 0x1.8p22);
      high = hn::Add(high, coarse);
      low = hn::Add(low, rounded(d, hn::Sub(promoted, coarse), 0x1.8p-8));
    }
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) put(logits + i, row + i);
  if (i < count) {
    std::array<float, HWY_MAX_BYTES / sizeof(float)> last;
    std::array<double, HWY_MAX_BYTES / sizeof(float)> made;
    std::fill(std::copy(logits + i, logits + count, last.begin()), last.end(),
              -std::numeric_limits<float>::infinity());
    put(last.data(), made.data());
    std::copy_n(made.begin(), count - i, row + i);
  }
  return hn::GetLane(hn::SumOfLanes(d, high)) + hn::GetLane(hn::SumOfLanes(d, low));
}

void scale_row(double* row, std::size_t count, double factor) {
  const hn::ScalableTag<double> tag;
  hn::Transform(tag, row, count, [=](auto d, auto v) HWY_ATTR { return hn::Mul(v, hn::Set(d, factor)); });
}

/// Returns the first place from `at` on where `numbers` has more than `than`; `count` if there is none.
template <class Number>
std::size_t first_above(const Number* numbers, std::size_t at, std::size_t count, Number than) {
  const hn::ScalableTag<Number> tag;
  const auto above = [=](auto d, auto v) HWY_ATTR { return hn::Gt(v, hn::Set(d, than)); };
  return at + hn::FindIf(tag, numbers + at, count - at, above);
}
std::size_t first_logit_above(const float* logits, std::size_t at, std::size_t count, float than) {
  return first_above(logits, at, count, than);
}
std::size_t first_probability_above(const double* row, std::size_t at, std::size_t count, double than) {
  return first_above(row, at, count, than);
}

/// Sets sums[i] to the sum of all numbers above bounds[i].
void sums_above(const double* row, std::size_t count, const PBounds& bounds, PBounds& sums) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto b0 = hn::Set(d, bounds[0]);
  const auto b1 = hn::Set(d, bounds[1]);
  const auto b2 = hn::Set(d, bounds[2]);
  auto s0 = hn::Zero(d);
  auto s1 = hn::Zero(d);
  auto s2 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto p = hn::LoadU(d, row + i);
    s0 = hn::Add(s0, hn::IfThenElseZero(hn::Gt(p, b0), p));
    s1 = hn::Add(s1, hn::IfThenElseZero(hn::Gt(p, b1), p));
    s2 = hn::Add(s2, hn::IfThenElseZero(hn::Gt(p, b2), p));
  }
  sums = {hn::GetLane(hn::SumOfLanes(d, s0)), hn::GetLane(hn::SumOfLanes(d, s1)),
          hn::GetLane(hn::SumOfLanes(d, s2))};
  for (; i < count; ++i) {
    for (std::size_t k = 0; k < bounds.size(); ++k) sums[k] += row[i] > bounds[k] ? row[i] : 0;
  }
}

}  // namespace speclab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace speclab {

HWY_EXPORT(largest_logit);
HWY_EXPORT(exponentials);
HWY_EXPORT(scale_row);
HWY_EXPORT(first_logit_above);
HWY_EXPORT(first_probability_above);
HWY_EXPORT(sums_above);

namespace {

/// A token and the value that orders it: the larger first, ties by the lower id.
template <class Number>
struct Ranked {
  Number value;
  Token id;
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.value > b.value || (a.value == b.value && a.id < b.id);
  }
};

/// Writes the k largest logits, the larger first, into `best`.
void find_largest(std::span<const float> logits, std::size_t k, std::vector<Ranked<float>>& best) {
  best.clear();
  for (std::size_t i = 0; i < k; ++i) best.push_back({logits[i], static_cast<Token>(i)});
  std::make_heap(best.begin(), best.end());  // the last in order is at the front of the heap
  for (std::size_t i = k;;) {
    i = HWY_DYNAMIC_DISPATCH(first_logit_above)(logits.data(), i, logits.size(), best.front().value);
    if (i == logits.size()) break;
    std::pop_heap(best.begin(), best.end());
    best.back() = {logits[i], static_cast<Token>(i)};
    std::push_heap(best.begin(), best.end());
    ++i;
  }
  std::sort_heap(best.begin(), best.end());
}

/// Returns count_reaching for values in any order, and moves the counted values to the front. It partitions
/// halves until one token is left, in time proportional to their number.
std::size_t select_reaching(std::vector<Ranked<double>>& found, double share) {
  std::size_t first = 0;
  std::size_t last = found.size();  // the answer is in (first, last]
  double before = 0;
  while (last - first > 1) {
    const std::size_t middle = first + (last - first) / 2;
    const auto at = [&](std::size_t i) { return found.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(first), at(middle), at(last));
    double sum = before;
    for (std::size_t i = first; i < middle; ++i) sum += found[i].value;
    if (reaches(sum, share)) {
      last = middle;
    } else {
      before = sum;
      first = middle;
    }
  }
  return last;
}

/// Makes a row of only these tokens, normalised.
void put_only(std::span<const Ranked<double>> kept, std::span<double> row) {
  double total = 0;
  for (const auto& one : kept) total += one.value;
  std::fill(row.begin(), row.end(), 0.0);
  for (const auto& one : kept) row[static_cast<std::size_t>(one.id)] = one.value / total;
}

void put_largest(std::span<const float> logits, const Adjustment& how, std::span<double> row) {
  std::vector<Ranked<float>> best;
  find_largest(logits, static_cast<std::size_t>(how.top_k), best);
  std::vector<Ranked<double>> kept;
  double total = 0;
  for (const auto& one : best) {
    const double difference = static_cast<double>(one.value) - static_cast<double>(best.front().value);
    kept.push_back({std::exp(difference / how.temperature), one.id});
    total += kept.back().value;
  }
  const auto weight = [&](std::size_t place) { return kept[place].value; };
  if (how.top_p < 1) kept.resize(count_reaching(kept.size(), how.top_p * total, weight));
  put_only(kept, row);
}

/// Keeps the largest probabilities of a normalised row until they reach `share`.
void keep_share(double share, std::span<double> row) {
  // Finds a bound such that the probabilities above it reach `share`, by a few passes over the row, which are
  // cheaper than sorting it.
  constexpr double step = 1.0 / 16;
  PBounds bounds{step, step * step, step * step * step};
  PBounds sums{};
  double bound = -1;  // no bound: every probability
  while (bound < 0 && bounds.back() > std::numeric_limits<double>::min()) {
    HWY_DYNAMIC_DISPATCH(sums_above)(row.data(), row.size(), bounds, sums);
    for (std::size_t i = 0; i < bounds.size() && bound < 0; ++i) {
      // A smaller margin could, by rounding, leave out a token that is kept.
      if (sums[i] > share * (1 + 1e-9)) bound = bounds[i];
    }
    if (sums.back() >= 1 - 1e-12) break;  // the rest is not worth another pass
    for (double& one : bounds) one *= step * step * step;
  }
  std::vector<Ranked<double>> found;
  const auto next = [&](std::size_t at) {
    return HWY_DYNAMIC_DISPATCH(first_probability_above)(row.data(), at, row.size(), std::max(bound, 0.0));
  };
  for (std::size_t i = next(0); i < row.size(); i = next(i + 1))
    found.push_back({row[i], static_cast<Token>(i)});
  found.resize(select_reaching(found, share));
  put_only(found, row);
}

}  // namespace

void softmax_of_logits(std::span<const float> logits, double temperature, std::span<double> row) {
  assert(logits.size() == row.size() && temperature > 0);
  const float most = HWY_DYNAMIC_DISPATCH(largest_logit)(logits.data(), logits.size());
  if (!std::isfinite(most)) {
    std::fill(row.begin(), row.end(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const double total =
      HWY_DYNAMIC_DISPATCH(exponentials)(logits.data(), logits.size(), most, temperature, row.data());
  HWY_DYNAMIC_DISPATCH(scale_row)(row.data(), row.size(), 1 / total);
}

void row_of_logits(std::span<const float> logits, const Adjustment& how, std::vector<double>& row) {
  row.resize(logits.size());
  const bool cut = how.top_k > 0 && static_cast<std::size_t>(how.top_k) < logits.size();
  if (how.temperature > 0 && !cut) {
    softmax_of_logits(logits, how.temperature, row);
    // A NaN stays in the row, so that sampling reports it.
    if (how.top_p < 1 && !std::isnan(row.front())) keep_share(how.top_p, row);
    return;
  }
  const float most = HWY_DYNAMIC_DISPATCH(largest_logit)(logits.data(), logits.size());
  if (!std::isfinite(most)) {
    std::fill(row.begin(), row.end(), std::numeric_limits<double>::quiet_NaN());
  } else if (how.temperature == 0) {
    std::fill(row.begin(), row.end(), 0.0);
    row[static_cast<std::size_t>(std::find(logits.begin(), logits.end(), most) - logits.begin())] = 1;
  } else {
    put_largest(logits, how, row);
  }
}

}  // namespace speclab
#endif
