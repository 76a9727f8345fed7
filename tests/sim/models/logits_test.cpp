#include "sim/models/logits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/distribution/transforms.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

std::vector<float> random_logits(std::uint64_t seed, std::size_t count) {
  Philox stream = world(seed);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = static_cast<float>(40 * open_unit(stream()) - 30);
  return logits;
}

/// Bound on the rounding of exponentials in f32 and of products without fused multiplication.
constexpr double f32_rounding = 1e-5;

std::vector<double> row_of(const std::vector<float>& logits, double temperature) {
  std::vector<double> row(logits.size());
  softmax_of_logits(logits, temperature, row);
  return row;
}

}  // namespace

TEST_CASE("logits: the softmax is its definition, whatever the length") {
  for (const std::size_t count : {1, 2, 3, 7, 8, 9, 31, 64, 1000, 4097}) {
    const std::vector<float> logits = random_logits(count, count);
    const std::vector<double> wide(logits.begin(), logits.end());
    for (const double temperature : {0.3, 1.0, 1.7}) {
      std::vector<double> expected(count);
      softmax(wide, temperature, expected);
      const std::vector<double> row = row_of(logits, temperature);
      double total = 0;
      for (std::size_t i = 0; i < count; ++i) {
        // Below e^-87 of the largest probability a probability is 0.
        CHECK(std::abs(row[i] - expected[i]) <= f32_rounding * expected[i] + 1e-37);
        total += row[i];
      }
      CHECK(total == doctest::Approx(1).epsilon(1e-13));
    }
  }
}

TEST_CASE("logits: a probability does not depend on its place in the row, nor on the others' places") {
  for (const std::size_t count : {1, 2, 7, 17, 37, 1003}) {
    const std::vector<float> logits = random_logits(count + 7, count);
    for (const double temperature : {0.3, 1.0, 1.7}) {
      const std::vector<double> row = row_of(logits, temperature);
      for (const std::size_t by : {std::size_t{1}, count / 2, count - 1}) {
        std::vector<float> turned = logits;
        std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(by % count), turned.end());
        std::vector<double> expected = row;
        std::rotate(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(by % count),
                    expected.end());
        CHECK(row_of(turned, temperature) == expected);
      }
      std::vector<float> reversed(logits.rbegin(), logits.rend());
      CHECK(row_of(reversed, temperature) == std::vector<double>(row.rbegin(), row.rend()));
    }
  }
}

TEST_CASE("logits: minus infinity is an impossible token, and NaN makes the row invalid") {
  constexpr float none = -std::numeric_limits<float>::infinity();
  constexpr float odd = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t at : {std::size_t{0}, std::size_t{5}, std::size_t{16}}) {
    std::vector<float> logits = random_logits(3, 17);
    logits[at] = none;
    CHECK(row_of(logits, 1)[at] == 0);
    logits[at] = odd;
    for (const double probability : row_of(logits, 1)) CHECK(std::isnan(probability));
  }
  for (const double probability : row_of(std::vector<float>(17, none), 1)) CHECK(std::isnan(probability));
  CHECK(row_of({none, 3, none}, 0.5) == std::vector<double>{0, 1, 0});
}

TEST_CASE("logits: sampling options of logits are those of their probabilities") {
  std::vector<Token> order;
  for (const std::size_t count : {1, 2, 7, 33, 500, 5000}) {
    std::vector<float> logits = random_logits(count + 1, count);
    // Some logits are equal; among these the lower ids are kept.
    for (std::size_t i = 3; i < count; i += 5) logits[i] = logits[i / 2];
    for (const Adjustment how :
         {Adjustment{}, Adjustment{.temperature = 0}, Adjustment{.temperature = 0.6}, Adjustment{.top_k = 1},
          Adjustment{.top_k = 6}, Adjustment{.temperature = 1.5, .top_k = 40}, Adjustment{.top_k = 10000},
          Adjustment{.top_p = 0.3}, Adjustment{.top_p = 0.95}, Adjustment{.temperature = 4, .top_p = 0.999},
          Adjustment{.temperature = 0.4, .top_k = 20, .top_p = 0.8}, Adjustment{.top_p = 1e-9}}) {
      std::vector<double> expected(count);
      softmax(std::vector<double>(logits.begin(), logits.end()), 1, expected);
      adjust(expected, how, order);
      std::vector<double> row;
      row_of_logits(logits, how, row);
      REQUIRE(row.size() == count);
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(std::abs(row[i] - expected[i]) <= f32_rounding * expected[i] + 1e-37);
        if (expected[i] > 1e-30) CHECK(row[i] > 0);
      }
    }
  }
}

TEST_CASE("logits: an invalid row stays invalid through sampling options") {
  std::vector<float> logits = random_logits(5, 40);
  logits[11] = std::numeric_limits<float>::quiet_NaN();
  for (const Adjustment how :
       {Adjustment{.temperature = 0}, Adjustment{.top_k = 3}, Adjustment{.top_p = 0.5}}) {
    std::vector<double> row;
    row_of_logits(logits, how, row);
    for (const double probability : row) CHECK(std::isnan(probability));
  }
}
