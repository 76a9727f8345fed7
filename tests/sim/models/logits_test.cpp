#include "sim/models/logits.hpp"

#include <doctest/doctest.h>

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
      for (std::size_t i = 0; i < count; ++i) CHECK(row[i] == doctest::Approx(expected[i]).epsilon(1e-13));
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
