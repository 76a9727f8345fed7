// Tests measuring rows in one pass against the definition in double.
#include "analysis/recorded/row_measures.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace speclab;

namespace {

std::vector<double> logits(std::size_t count, std::uint32_t seed) {
  std::vector<double> row;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    // The numbers are exactly representable in half precision.
    row.push_back(static_cast<double>(static_cast<int>(seed >> 24U) - 128) / 16);
  }
  return row;
}

/// Converts numbers that half precision represents exactly, in its normal range or 0.
std::uint16_t half_of(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);  // in [1/2, 1)
  const auto mantissa = static_cast<unsigned>(std::lround((2 * fraction - 1) * 1024));
  const auto biased = static_cast<unsigned>(exponent - 1 + 15);
  return static_cast<std::uint16_t>((value < 0 ? 0x8000U : 0U) | biased << 10U | mantissa);
}

std::vector<char> stored(const std::vector<double>& row, RowNumber number) {
  std::vector<char> bytes(row.size() * bytes_of(number));
  for (std::size_t i = 0; i < row.size(); ++i) {
    char* at = bytes.data() + i * bytes_of(number);
    const auto single = static_cast<float>(row[i]);
    std::uint32_t word = 0;
    std::memcpy(&word, &single, sizeof word);
    const auto top = static_cast<std::uint16_t>(word >> 16U);
    const std::uint16_t half = number == RowNumber::f16 ? half_of(row[i]) : std::uint16_t{0};
    if (number == RowNumber::f64) std::memcpy(at, &row[i], 8);
    if (number == RowNumber::f32) std::memcpy(at, &single, 4);
    if (number == RowNumber::bf16) std::memcpy(at, &top, 2);
    if (number == RowNumber::f16) std::memcpy(at, &half, 2);
  }
  return bytes;
}

RowMeasures defined(const std::vector<double>& target, const std::vector<double>& draft, std::size_t token) {
  double p_sum = 0;
  double q_sum = 0;
  for (const double x : target) p_sum += std::exp(x);
  for (const double x : draft) q_sum += std::exp(x);
  RowMeasures found{target[token] - std::log(p_sum), draft[token] - std::log(q_sum), 0, 0, 0};
  for (std::size_t i = 0; i < target.size(); ++i) {
    const double p = std::exp(target[i]) / p_sum;
    const double q = std::exp(draft[i]) / q_sum;
    found.overlap += std::min(p, q);
    if (p > 0) found.entropy -= p * std::log(p);
    if (p > 0) found.draft_share += q;
  }
  return found;
}

void check_same(const RowMeasures& found, const RowMeasures& wanted, double tolerance) {
  CHECK(found.log_target == doctest::Approx(wanted.log_target).epsilon(tolerance));
  CHECK(found.log_draft == doctest::Approx(wanted.log_draft).epsilon(tolerance));
  CHECK(found.overlap == doctest::Approx(wanted.overlap).epsilon(tolerance));
  CHECK(found.entropy == doctest::Approx(wanted.entropy).epsilon(tolerance));
  CHECK(found.draft_share == doctest::Approx(wanted.draft_share).epsilon(tolerance));
}

}  // namespace

TEST_CASE("rows of every kind of number give what their definition gives, at any length and address") {
  RowMeter meter;
  for (const std::size_t count : {1, 2, 3, 15, 16, 17, 100, 5000}) {
    const auto p = logits(count, 1);
    auto q = logits(count, 2);
    const std::size_t token = count / 2;
    for (const RowNumber number : {RowNumber::f16, RowNumber::bf16, RowNumber::f32, RowNumber::f64}) {
      CAPTURE(count);
      CAPTURE(static_cast<int>(number));
      for (const std::ptrdiff_t offset : {0, 1}) {  // files of rows begin at any address
        std::vector<char> target = stored(p, number);
        std::vector<char> draft = stored(q, number);
        target.insert(target.begin(), static_cast<std::size_t>(offset), 0);
        draft.insert(draft.begin(), static_cast<std::size_t>(offset), 0);
        check_same(meter.measure({target.data() + offset, number, RowMeaning::logits},
                                 {draft.data() + offset, number, RowMeaning::logits}, count, token),
                   defined(p, q, token), 1e-5);
      }
    }
  }
}

TEST_CASE("tokens that the target excludes take nothing from it, and their share of the draft is told") {
  const double out = -std::numeric_limits<double>::infinity();
  const std::vector<double> p{0, 0, out, out};
  const std::vector<double> q{0, 0, 0, 0};
  RowMeter meter;
  for (const RowNumber number : {RowNumber::f32, RowNumber::f64}) {
    const RowMeasures found = meter.measure({stored(p, number).data(), number, RowMeaning::logits},
                                            {stored(q, number).data(), number, RowMeaning::logits}, 4, 1);
    CHECK(found.overlap == doctest::Approx(0.5));
    CHECK(found.draft_share == doctest::Approx(0.5));
    CHECK(found.entropy == doctest::Approx(std::log(2)));
    CHECK(found.log_target == doctest::Approx(-std::log(2)));
  }
}

TEST_CASE("probabilities are told from logits, and normalised") {
  const std::vector<double> p{0.5, 0.25, 0.25, 0};
  const std::vector<double> q{0.1, 0.2, 0.3, 0.4};
  RowMeter meter;
  for (const RowNumber number : {RowNumber::f32, RowNumber::f64}) {
    CHECK(guess_meaning(stored(p, number).data(), number, 4) == RowMeaning::probabilities);
    const RowMeasures found =
        meter.measure({stored(p, number).data(), number, RowMeaning::probabilities},
                      {stored(q, number).data(), number, RowMeaning::probabilities}, 4, 2);
    CHECK(found.log_target == doctest::Approx(std::log(0.25)));
    CHECK(found.log_draft == doctest::Approx(std::log(0.3)));
    CHECK(found.overlap == doctest::Approx(0.1 + 0.2 + 0.25));
    CHECK(found.draft_share == doctest::Approx(0.6));
  }
  CHECK(guess_meaning(stored({1, 2, 3}, RowNumber::f32).data(), RowNumber::f32, 3) == RowMeaning::logits);
  CHECK(guess_meaning(stored({-1, 2}, RowNumber::f32).data(), RowNumber::f32, 2) == RowMeaning::logits);
}

TEST_CASE("a row that is no distribution is not taken for one") {
  RowMeter meter;
  const std::vector<double> good(40, 0.5);
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)}) {
    for (const std::size_t place : {0, 7, 39}) {
      auto row = good;
      row[place] = bad;
      for (const RowNumber number : {RowNumber::f32, RowNumber::f64}) {
        const auto broken = stored(row, number);
        const auto whole = stored(good, number);
        CHECK(std::isnan(meter
                             .measure({broken.data(), number, RowMeaning::logits},
                                      {whole.data(), number, RowMeaning::logits}, 40, 3)
                             .log_target));
        CHECK(std::isnan(meter
                             .measure({whole.data(), number, RowMeaning::logits},
                                      {broken.data(), number, RowMeaning::logits}, 40, 3)
                             .log_target));
      }
    }
  }
  const auto negative = stored({0.5, -0.5, 1}, RowNumber::f32);
  CHECK(std::isnan(meter
                       .measure({negative.data(), RowNumber::f32, RowMeaning::probabilities},
                                {negative.data(), RowNumber::f32, RowMeaning::probabilities}, 3, 0)
                       .log_target));
}

TEST_CASE("half precision by its definition") {
  CHECK(detail::float_of_half(0x3C00) == 1.0F);
  CHECK(detail::float_of_half(0xC000) == -2.0F);
  CHECK(detail::float_of_half(0x0001) == std::ldexp(1.0F, -24));
  CHECK(detail::float_of_half(0x7BFF) == 65504.0F);
  CHECK(std::isinf(detail::float_of_half(0xFC00)));
  CHECK(std::isnan(detail::float_of_half(0x7E00)));
}
