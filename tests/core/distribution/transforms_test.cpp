#include "core/distribution/transforms.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random/philox.hpp"

using namespace speclab;

namespace {

std::vector<double> adjusted(std::vector<double> row, const Adjustment& how) {
  std::vector<Token> order;
  adjust(row, how, order);
  return row;
}

void check_rows(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] - expected[i]) < 1e-14);
  }
}

const std::vector<double> plain{0.1, 0.4, 0.2, 0.3};

}  // namespace

TEST_CASE("the identity changes no bit") { CHECK(adjusted(plain, {}) == plain); }

TEST_CASE("temperature raises probabilities to 1/T") {
  check_rows(adjusted(plain, {.temperature = 0.5}), {0.01 / 0.3, 0.16 / 0.3, 0.04 / 0.3, 0.09 / 0.3});
  check_rows(adjusted({0.2, 0, 0.8}, {.temperature = 2}), {1.0 / 3, 0, 2.0 / 3});
}

TEST_CASE("temperature 0 is argmax, lowest id on ties, and the limit of small temperatures") {
  check_rows(adjusted(plain, {.temperature = 0}), {0, 1, 0, 0});
  check_rows(adjusted({0.2, 0.4, 0.4}, {.temperature = 0}), {0, 1, 0});
  check_rows(adjusted(plain, {.temperature = 1e-3}), {0, 1, 0, 0});
  check_rows(adjusted(plain, {.temperature = std::numeric_limits<double>::min()}), {0, 1, 0, 0});
  // In the limit tied ids share the probability; argmax must choose one.
  check_rows(adjusted({0.2, 0.4, 0.4}, {.temperature = 1e-3}), {0, 0.5, 0.5});
}

TEST_CASE("a very large temperature is uniform over the support") {
  const std::vector<double> found = adjusted({0.7, 0.3, 0, 0}, {.temperature = 1e18});
  check_rows(found, {0.5, 0.5, 0, 0});
}

TEST_CASE("top-k keeps the largest, lower ids on ties, and everything when k is large or 0") {
  check_rows(adjusted(plain, {.top_k = 2}), {0, 4.0 / 7, 0, 3.0 / 7});
  check_rows(adjusted({0.25, 0.25, 0.25, 0.25}, {.top_k = 2}), {0.5, 0.5, 0, 0});
  check_rows(adjusted(plain, {.top_k = 9}), plain);
  check_rows(adjusted(plain, {.top_k = 1}), adjusted(plain, {.temperature = 0}));
}

TEST_CASE("top-p keeps the smallest set that reaches p, and at least one id") {
  check_rows(adjusted({0.125, 0.5, 0.125, 0.25}, {.top_p = 0.75}), {0, 2.0 / 3, 0, 1.0 / 3});
  check_rows(adjusted({0.125, 0.5, 0.125, 0.25}, {.top_p = 0.76}), {1.0 / 7, 4.0 / 7, 0, 2.0 / 7});
  check_rows(adjusted(plain, {.top_p = 0}), {0, 1, 0, 0});
}

TEST_CASE("the order is temperature, top-k, top-p") {
  // The squares are 1, 16, 4, 9 of 30; the top 3 are 16, 9, 4 of 29; 25/29 > 0.8 keeps two.
  check_rows(adjusted(plain, {.temperature = 0.5, .top_k = 3, .top_p = 0.8}), {0, 16.0 / 25, 0, 9.0 / 25});
}

TEST_CASE("damage and emptiness pass through: a NaN is never hidden by a transform") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Adjustment& how :
       {Adjustment{.temperature = 0}, Adjustment{.temperature = 0.5}, Adjustment{.top_k = 1},
        Adjustment{.top_p = 0.5}, Adjustment{.temperature = 2, .top_k = 2, .top_p = 0.9}}) {
    for (std::size_t at = 0; at < plain.size(); ++at) {
      std::vector<double> invalid = plain;
      invalid[at] = nan;
      const std::vector<double> found = adjusted(invalid, how);
      CHECK(std::isnan(found[at]));
    }
    CHECK(adjusted({}, how).empty());
  }
  check_rows(adjusted({0, 0, 0}, {.temperature = 0.5, .top_k = 1}), {0, 0, 0});
}

TEST_CASE("softmax: by hand, shift-invariant, and without overflow") {
  std::vector<double> row(3);
  softmax(std::vector<double>{0, std::log(2.0), std::log(5.0)}, 1, row);
  check_rows(row, {0.125, 0.25, 0.625});
  softmax(std::vector<double>{1e6, 1e6 + std::log(2.0), 1e6 + std::log(5.0)}, 1, row);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(row[i] == doctest::Approx(std::vector<double>{0.125, 0.25, 0.625}[i]));
  softmax(std::vector<double>{0, 1, -1e308}, 0.5, row);
  check_rows(row, {1 / (1 + std::exp(2.0)), 1 / (1 + std::exp(-2.0)), 0});
  // Temperature on logits equals temperature on the row.
  const std::vector<double> logits{0.3, -1, 2};
  softmax(logits, 1, row);
  const std::vector<double> cooled = adjusted(row, {.temperature = 0.7});
  softmax(logits, 0.7, row);
  check_rows(row, cooled);
}

TEST_CASE("argmax: the first of the largest, as a plain loop finds it, and NaN wherever it stands") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::int32_t size = 1; size <= 37; ++size) {
    for (std::uint32_t trial = 0; trial < 50; ++trial) {
      Philox stream(8, Site{trial, static_cast<std::uint32_t>(size), Draw{Use::world, 0}});
      std::vector<double> row;
      for (std::int32_t i = 0; i < size; ++i) row.push_back(static_cast<double>(stream() % 5) - 1);
      const auto first = std::max_element(row.begin(), row.end());
      CHECK(argmax(Row{row.data(), size}) == first - row.begin());
      row[stream() % row.size()] = nan;
      CHECK(argmax(Row{row.data(), size}) == invalid_token);
    }
  }
}

TEST_CASE("temperature before or after top-k: the same row") {
  std::vector<Token> order;
  for (std::uint32_t trial = 0; trial < 20; ++trial) {
    Philox stream(9, Site{trial, 0, Draw{Use::world, 0}});
    std::vector<double> row;
    for (int i = 0; i < 30; ++i) row.push_back(open_unit(stream()));
    std::vector<double> together = row;
    adjust(together, {.temperature = 0.7, .top_k = 6}, order);
    adjust(row, {.temperature = 0.7}, order);
    adjust(row, {.top_k = 6}, order);
    for (std::size_t i = 0; i < row.size(); ++i) CHECK(together[i] == doctest::Approx(row[i]).epsilon(1e-13));
  }
}
