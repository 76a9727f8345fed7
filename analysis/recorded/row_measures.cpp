// Highway includes this file again and again, and so compiles it once for each instruction set. Rows of
// 49,152 numbers in f16 are read at more than a gigabyte a second on two cores (docs/performance.md).
#include "analysis/recorded/row_measures.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analysis/recorded/row_measures.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// This needs the include above.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace speclab::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// exp underflows to 0 below this exponent, which also stands for -infinity.
constexpr float min_exponent = -104;
/// Numbers summed in float before the sum is added to a double.
constexpr std::size_t part = 4096;

/// Converts half precision to float and returns the largest number, or NaN if any is NaN: in one pass, since
/// the row comes from memory. It prefetches `ahead` numbers, further than the processor does by itself.
float widen(const void* row, std::size_t count, float* out) {
  const D d;
  const hn::Rebind<hwy::float16_t, D> half;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t ahead = 1024;
  const auto* in = static_cast<const hwy::float16_t*>(row);
  const auto* bytes = static_cast<const unsigned char*>(row);  // at any alignment
  auto most = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto odd = hn::Zero(d);  // NaN once a NaN was seen
  std::size_t i = 0;
  const auto one = [&] {
    const auto v = hn::PromoteTo(d, hn::LoadU(half, in + i));
    hn::StoreU(v, d, out + i);
    most = hn::Max(most, v);
    odd = hn::IfThenElse(hn::Eq(v, v), odd, v);
    i += lanes;
  };
  while (i + 2 * lanes <= count) {
    hwy::Prefetch(bytes + sizeof(std::uint16_t) * (i + ahead));
    one();
    one();
  }
  while (i + lanes <= count) one();
  float found = hn::GetLane(hn::MaxOfLanes(d, most));
  bool is_odd = hn::GetLane(hn::SumOfLanes(d, odd)) != 0;
  for (; i < count; ++i) {
    std::uint16_t word = 0;
    std::memcpy(&word, bytes + sizeof word * i, sizeof word);
    out[i] = detail::float_of_half(word);
    is_odd = is_odd || std::isnan(out[i]);
    found = std::max(found, out[i]);
  }
  return is_odd ? std::numeric_limits<float>::quiet_NaN() : found;
}

/// Turns logits into exp(x - most) and returns their sums.
detail::RowMass exponentials(float* row, std::size_t count, float most) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const auto shift = hn::Set(d, most);
  const auto least = hn::Set(d, min_exponent);
  detail::RowMass mass;
  for (std::size_t begin = 0; begin < count; begin += part) {
    const std::size_t end = std::min(count, begin + part);
    auto sum = hn::Zero(d);
    auto weighted = hn::Zero(d);
    std::size_t i = begin;
    const auto one = [&] {
      const auto x = hn::Max(hn::Sub(hn::LoadU(d, row + i), shift), least);
      const auto e = hn::Exp(d, x);
      hn::StoreU(e, d, row + i);
      sum = hn::Add(sum, e);
      weighted = hn::MulAdd(e, x, weighted);
      i += lanes;
    };
    while (i + 2 * lanes <= end) {  // two at a time hide the latency of one
      one();
      one();
    }
    while (i + lanes <= end) one();
    mass.sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
    mass.weighted += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, weighted)));
    for (; i < end; ++i) {
      const float x = std::max(row[i] - most, min_exponent);
      row[i] = std::exp(x);
      mass.sum += static_cast<double>(row[i]);
      mass.weighted += static_cast<double>(row[i] * x);
    }
  }
  return mass;
}

/// Returns the sums of probabilities; NaN if any is negative.
detail::RowMass probabilities(const float* row, std::size_t count) {
  detail::RowMass mass;
  for (std::size_t i = 0; i < count; ++i) {
    const auto p = static_cast<double>(row[i]);
    mass.sum += p < 0 ? std::numeric_limits<double>::quiet_NaN() : p;
    if (p > 0) mass.weighted += p * std::log(p);
  }
  return mass;
}

/// Returns sums over both rows, each multiplied by its factor.
detail::SharedMass shared(const float* target, float by_target, const float* draft, float by_draft,
                          std::size_t count) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const auto p_factor = hn::Set(d, by_target);
  const auto q_factor = hn::Set(d, by_draft);
  detail::SharedMass found;
  for (std::size_t begin = 0; begin < count; begin += part) {
    const std::size_t end = std::min(count, begin + part);
    auto overlap = hn::Zero(d);
    auto share = hn::Zero(d);
    std::size_t i = begin;
    for (; i + lanes <= end; i += lanes) {
      const auto p = hn::LoadU(d, target + i);
      const auto q = hn::Mul(hn::LoadU(d, draft + i), q_factor);
      overlap = hn::Add(overlap, hn::Min(hn::Mul(p, p_factor), q));
      share = hn::Add(share, hn::IfThenElseZero(hn::Gt(p, hn::Zero(d)), q));
    }
    found.overlap += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, overlap)));
    found.draft_share += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, share)));
    for (; i < end; ++i) {
      const float q = draft[i] * by_draft;
      found.overlap += static_cast<double>(std::min(target[i] * by_target, q));
      if (target[i] > 0) found.draft_share += static_cast<double>(q);
    }
  }
  return found;
}

}  // namespace speclab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace speclab {

HWY_EXPORT(widen);
HWY_EXPORT(exponentials);
HWY_EXPORT(probabilities);
HWY_EXPORT(shared);

namespace {

constexpr std::align_val_t line{64};  // size of a cache line

struct NormalRow {
  double log_factor = 0;  // logarithm of the factor that turns `mass` into probabilities
  double entropy = 0;
  double shift = 0;  // subtracted from the logits
  bool valid = false;
};

/// Turns `numbers` into the row's unnormalised probabilities; `most` is its largest number, or NaN.
NormalRow normal_row(float* numbers, std::size_t count, RowMeaning meaning, float most) {
  const bool logits = meaning == RowMeaning::logits;
  if (logits && !std::isfinite(most)) return {};
  const auto mass = logits ? HWY_DYNAMIC_DISPATCH(exponentials)(numbers, count, most)
                           : HWY_DYNAMIC_DISPATCH(probabilities)(numbers, count);
  return {-std::log(mass.sum), std::log(mass.sum) - mass.weighted / mass.sum,
          logits ? static_cast<double>(most) : 0, logits || (std::isfinite(mass.sum) && mass.sum > 0)};
}

/// Reads a number at any alignment.
template <class Number>
Number read_number(const char* bytes) {
  Number value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

double number_at(const void* row, RowNumber number, std::size_t index) {
  const auto* bytes = static_cast<const char*>(row) + index * bytes_of(number);
  if (number == RowNumber::f64) return read_number<double>(bytes);
  if (number == RowNumber::f32) return static_cast<double>(read_number<float>(bytes));
  const auto half = read_number<std::uint16_t>(bytes);
  return static_cast<double>(number == RowNumber::bf16 ? std::bit_cast<float>(std::uint32_t{half} << 16U)
                                                       : detail::float_of_half(half));
}

/// Writes the numbers of a row as floats and returns the largest, or NaN if any is NaN.
float floats_of(const void* row, RowNumber number, std::size_t vocab, float* out) {
  if (number == RowNumber::f16) return HWY_DYNAMIC_DISPATCH(widen)(row, vocab, out);
  if (number == RowNumber::f32) {
    std::memcpy(out, row, vocab * sizeof(float));
  } else {
    for (std::size_t i = 0; i < vocab; ++i) out[i] = static_cast<float>(number_at(row, number, i));
  }
  return Eigen::Map<const Eigen::ArrayXf>(out, static_cast<Eigen::Index>(vocab))
      .maxCoeff<Eigen::PropagateNaN>();
}

/// The definition, in double, for rows of f64.
struct DoubleRow {
  std::vector<double> probability;
  double entropy = 0;
  bool valid = false;
};

DoubleRow double_row(const StoredRow& row, std::size_t vocab) {
  DoubleRow made;
  made.probability.resize(vocab);
  read_row(row.numbers, row.number, vocab, made.probability.data());
  const double most = *std::max_element(made.probability.begin(), made.probability.end());
  double sum = 0;
  for (double& value : made.probability) {
    if (row.meaning == RowMeaning::logits) value = std::exp(value - most);
    if (value < 0) return made;
    sum += value;
  }
  made.valid = std::isfinite(sum) && sum > 0 && std::isfinite(most);
  for (double& value : made.probability) {
    value /= sum;
    if (value > 0) made.entropy -= value * std::log(value);
  }
  return made;
}

RowMeasures measure_doubles(const StoredRow& target, const StoredRow& draft, std::size_t vocab,
                            std::size_t token) {
  const DoubleRow p = double_row(target, vocab);
  const DoubleRow q = double_row(draft, vocab);
  RowMeasures found{std::numeric_limits<double>::quiet_NaN(), 0, 0, p.entropy, 0};
  if (!p.valid || !q.valid) return found;
  found.log_target = std::log(p.probability[token]);
  found.log_draft = std::log(q.probability[token]);
  for (std::size_t i = 0; i < vocab; ++i) {
    found.overlap += std::min(p.probability[i], q.probability[i]);
    if (p.probability[i] > 0) found.draft_share += q.probability[i];
  }
  return found;
}

}  // namespace

namespace detail {

float float_of_half(std::uint16_t half) { return static_cast<float>(std::bit_cast<Eigen::half>(half)); }

}  // namespace detail

std::size_t bytes_of(RowNumber number) {
  return number == RowNumber::f64 ? 8 : number == RowNumber::f32 ? 4 : 2;
}

void read_row(const void* row, RowNumber number, std::size_t vocab, double* out) {
  for (std::size_t i = 0; i < vocab; ++i) out[i] = number_at(row, number, i);
}

RowMeaning guess_meaning(const void* row, RowNumber number, std::size_t vocab) {
  constexpr double near = 0.01;
  double sums[4] = {};  // an addition need not wait for the last one
  for (std::size_t i = 0; i < vocab; ++i) {
    const double value = number_at(row, number, i);
    if (!(value >= 0)) return RowMeaning::logits;
    sums[i % 4] += value;
  }
  const double sum = sums[0] + sums[1] + sums[2] + sums[3];
  return std::abs(sum - 1) <= near ? RowMeaning::probabilities : RowMeaning::logits;
}

RowMeter::~RowMeter() { ::operator delete(memory_, line); }

void RowMeter::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  void* larger = ::operator new(bytes, line);
  ::operator delete(memory_, line);
  memory_ = larger;
  bytes_ = bytes;
}

RowMeasures RowMeter::measure(const StoredRow& target, const StoredRow& draft, std::size_t vocab,
                              std::size_t token) {
  if (target.number == RowNumber::f64 || draft.number == RowNumber::f64)
    return measure_doubles(target, draft, vocab, token);
  reserve(2 * vocab * sizeof(float));
  auto* p = static_cast<float*>(memory_);
  float* q = p + vocab;
  const float p_most = floats_of(target.numbers, target.number, vocab, p);
  const float q_most = floats_of(draft.numbers, draft.number, vocab, q);
  const auto log_numerator = [&](const float* row, RowMeaning meaning) {
    const auto value = static_cast<double>(row[token]);
    return meaning == RowMeaning::logits ? value : std::log(value);
  };
  RowMeasures found{log_numerator(p, target.meaning), log_numerator(q, draft.meaning), 0, 0, 0};
  const NormalRow p_row = normal_row(p, vocab, target.meaning, p_most);
  const NormalRow q_row = normal_row(q, vocab, draft.meaning, q_most);
  if (!p_row.valid || !q_row.valid) {
    found.log_target = std::numeric_limits<double>::quiet_NaN();
    return found;
  }
  found.log_target += p_row.log_factor - p_row.shift;
  found.log_draft += q_row.log_factor - q_row.shift;
  found.entropy = p_row.entropy;
  const auto sums = HWY_DYNAMIC_DISPATCH(shared)(p, static_cast<float>(std::exp(p_row.log_factor)), q,
                                                 static_cast<float>(std::exp(q_row.log_factor)), vocab);
  found.overlap = sums.overlap;
  found.draft_share = sums.draft_share;
  return found;
}

}  // namespace speclab

#endif  // HWY_ONCE
