#include "sim/models/synthetic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "core/stop.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

double sum(const std::vector<double>& row) { return std::accumulate(row.begin(), row.end(), 0.0); }

bool sums_to_one(const std::vector<double>& row) {
  return std::abs(sum(row) - 1) < 1e-13 && *std::min_element(row.begin(), row.end()) >= 0;
}

/// Null: rows are Dirichlet(a, ..., a), where E[probability^k] is the product over i < k of (a + i) / (V a +
/// i), which also gives the deviations of a probability and of its square. 2 V comparisons at seven sigma.
bool looks_dirichlet(const std::vector<double>& all, std::size_t vocab, double a) {
  const auto size = static_cast<double>(vocab);
  const double rows = static_cast<double>(all.size()) / size;
  const auto moment = [&](int k) {
    double product = 1;
    for (int i = 0; i < k; ++i) product *= (a + i) / (size * a + i);
    return product;
  };
  const double second = moment(2);
  bool agrees = true;
  for (std::size_t id = 0; id < vocab; ++id) {
    double mean = 0;
    double square = 0;
    for (std::size_t i = id; i < all.size(); i += vocab) {
      mean += all[i] / rows;
      square += all[i] * all[i] / rows;
    }
    agrees = agrees && mean_agrees(mean, 1 / size, std::sqrt(second - 1 / (size * size)), rows) &&
             mean_agrees(square, second, std::sqrt(moment(4) - second * second), rows);
  }
  return agrees;
}

}  // namespace

TEST_CASE("every distribution's rows sum to 1") {
  for (const std::int32_t vocab : {1, 2, 7, 1000}) {
    CHECK(sums_to_one(uniform_row(vocab)));
    CHECK(sums_to_one(point_row(vocab, vocab - 1)));
    for (const double exponent : {0.0, 1.0, 2.5}) CHECK(sums_to_one(zipf_row(vocab, exponent, false)));
    for (const double concentration : {1e-3, 0.5, 1.0, 100.0}) {
      CHECK(sums_to_one(dirichlet_rows(vocab, 1, concentration, 5)));
    }
  }
}

TEST_CASE("zipf: probabilities as 1 / rank, from either end") {
  const std::vector<double> row = zipf_row(4, 1, false);
  CHECK(row[0] / row[3] == doctest::Approx(4));
  std::vector<double> mirrored = zipf_row(4, 1, true);
  std::reverse(mirrored.begin(), mirrored.end());
  for (std::size_t id = 0; id < 4; ++id) CHECK(row[id] == doctest::Approx(mirrored[id]));
  CHECK(zipf_row(4, 0, false)[2] == doctest::Approx(0.25));
}

TEST_CASE("point: all on one id") { CHECK(point_row(3, 1) == std::vector<double>{0, 1, 0}); }

TEST_CASE("dirichlet: first and second moments, at several concentrations") {
  for (const double concentration : {0.05, 0.5, 1.0, 4.0}) {
    CAPTURE(concentration);
    CHECK(looks_dirichlet(dirichlet_rows(5, 60000, concentration, test_seed(11)), 5, concentration));
  }
  // Power: a concentration that is off by a fifth, and rows all equal to the mean, are rejected on the same
  // budget.
  CHECK_FALSE(looks_dirichlet(dirichlet_rows(5, 60000, 0.6, test_seed(11)), 5, 0.5));
  CHECK_FALSE(looks_dirichlet(std::vector<double>(5 * 60000, 0.2), 5, 0.5));
}

TEST_CASE("dirichlet: concentrations that underflow in floating point still give rows") {
  // Gamma(1e-6) is nearly always below the smallest double; in the limit a row has all probability on one
  // uniform id.
  for (const double concentration : {1e-6, 1e-12}) {
    const std::vector<double> all = dirichlet_rows(4, 20000, concentration, test_seed(3));
    double largest_mean = 0;
    std::vector<double> wins(4);
    for (std::size_t i = 0; i < all.size(); i += 4) {
      const std::vector<double> row(all.begin() + static_cast<std::ptrdiff_t>(i),
                                    all.begin() + static_cast<std::ptrdiff_t>(i) + 4);
      if (!sums_to_one(row)) FAIL_CHECK("row " << i / 4 << " sums to " << sum(row));
      const auto largest = std::max_element(row.begin(), row.end());
      largest_mean += *largest / 20000;
      ++wins[static_cast<std::size_t>(largest - row.begin())];
    }
    CHECK(largest_mean > 0.9999);
    for (const double win : wins) CHECK(count_agrees(win, 20000, 0.25));
  }
}

TEST_CASE("dirichlet: a row is addressed by the seed and its index") {
  const std::vector<double> two = dirichlet_rows(6, 2, 0.7, 9);
  const std::vector<double> three = dirichlet_rows(6, 3, 0.7, 9);
  CHECK(std::equal(two.begin(), two.end(), three.begin()));
  CHECK_FALSE(std::equal(two.begin(), two.begin() + 6, two.begin() + 6));
  CHECK(dirichlet_rows(6, 2, 0.7, 10) != two);
}

TEST_CASE("rows that are drawn for a while end when they are asked to") {
  int asked = 0;
  const std::function<bool()> stop = [&] { return ++asked > 3; };
  const StopScope scope(&stop);
  CHECK_THROWS_AS(dirichlet_rows(4, 1000, 0.5, 1), Stopped);
  CHECK(asked == 4);
}
