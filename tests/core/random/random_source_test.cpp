#include "core/random/random_source.hpp"

#include <doctest/doctest.h>

#include <boost/random/discrete_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "core/random/enumerated_random_source.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {
struct Given {
  double value;
  double operator()(Draw) const { return value; }
};
constexpr Draw any_draw{Use::draft, 0};

Token categorical_at(const std::vector<double>& row, double u) {
  return inverse_cdf(Row{row.data(), static_cast<std::int32_t>(row.size())}, u);
}
}  // namespace

TEST_CASE("Philox4x32-10 gives Random123's published known answers") {
  // The vectors are kat_vectors of Random123: counter and key all zero, and all ones.
  using P = r123::Philox4x32;
  const P::ctr_type zero = P{}(P::ctr_type{{0, 0, 0, 0}}, P::key_type{{0, 0}});
  CHECK(zero.v[0] == 0x6627e8d5U);
  CHECK(zero.v[1] == 0xe169c58dU);
  CHECK(zero.v[2] == 0xbc57ac4cU);
  CHECK(zero.v[3] == 0x9b00dbd8U);
  Philox stream(0, Site{0, 0, Draw{Use::draft, 0}});
  CHECK(stream() == 0xe169c58d6627e8d5U);
  CHECK(stream() == 0x9b00dbd8bc57ac4cU);
}

TEST_CASE("every field of an address reaches the number") {
  std::set<std::uint64_t> seen;
  int sites = 0;
  for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32U}) {
    for (const std::uint32_t trial : {0U, 1U, 0xffffffffU}) {
      for (const std::uint32_t round : {0U, 1U, 0xffffffffU}) {
        for (const std::uint16_t slot : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{0xffff}}) {
          for (const Use use : {Use::draft, Use::accept, Use::replace, Use::bonus, Use::plain, Use::world}) {
            seen.insert(Philox(seed, Site{trial, round, Draw{use, slot}})());
            ++sites;
          }
        }
      }
    }
  }
  CHECK(static_cast<int>(seen.size()) == sites);
}

TEST_CASE("weights of the smallest positive doubles are drawn by their shares") {
  const double least = 0x1p-1074;
  for (const auto& [u, token] : {std::pair{0.0, 0}, {0.24, 0}, {0.26, 1}, {0.49, 1}, {0.51, 3}, {0.99, 3}})
    CHECK(categorical_at({least, least, 0, 2 * least}, u) == token);
  // The same must hold in a long row, whose totals are computed block by block.
  std::vector<double> row(1000, least);
  for (int i = 0; i < 1000; ++i) CHECK(categorical_at(row, (i + 0.5) / 1000) == i);
}

TEST_CASE("Philox runs Boost.Random distributions") {
  Philox stream(test_seed(7), Site{0, 0, Draw{Use::world, 0}});
  boost::random::normal_distribution<double> normal;
  double sum = 0;
  double squares = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double x = normal(stream);
    sum += x;
    squares += x * x;
  }
  // Null: standard normal. The variance of a square is 2.
  CHECK(mean_agrees(sum / n, 0, 1, n));
  CHECK(mean_agrees(squares / n, 1, std::sqrt(2.0), n));
}

TEST_CASE("unit uniforms stay strictly inside (0, 1)") {
  CHECK(open_unit(0) == 0x1p-53);
  CHECK(open_unit(~std::uint64_t{0}) < 1.0);
  CHECK(open_unit(~std::uint64_t{0}) == 1 - 0x1p-53);
}

TEST_CASE("flip is strict: nothing of probability 0 ever happens, NaN never happens, 1 always does") {
  UniformRandomSource<Given> at_zero(Given{0});
  CHECK_FALSE(at_zero.bernoulli(any_draw, 0.0));
  CHECK(at_zero.bernoulli(any_draw, std::numeric_limits<double>::denorm_min()));
  CHECK_FALSE(at_zero.bernoulli(any_draw, std::numeric_limits<double>::quiet_NaN()));
  UniformRandomSource<Given> high(Given{open_unit(~std::uint64_t{0})});
  CHECK(high.bernoulli(any_draw, 1.0));
}

TEST_CASE("inverse CDF: edges") {
  CHECK(categorical_at({0, 1, 0, 3, 0}, 0) == 1);
  CHECK(categorical_at({0, 1, 0, 3, 0}, 0.25) == 3);
  CHECK(categorical_at({0, 1, 0, 3, 0}, 0.2499) == 1);
  CHECK(categorical_at({0, 1, 0, 3, 0}, 1) == 3);
  CHECK(categorical_at({0, 0, 0}, 0.5) == no_token);
  CHECK(categorical_at({}, 0.5) == no_token);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(categorical_at({0.5, nan, 0.5}, 0.1) == invalid_token);
  CHECK(categorical_at({0.5, inf, 0.5}, 0.1) == invalid_token);
}

TEST_CASE("inverse CDF agrees with the running sum at sizes around and far above its block width") {
  for (const int size : {1, 7, 31, 32, 33, 255, 256, 257, 8191, 8192, 8193, 100000}) {
    std::vector<double> row(static_cast<std::size_t>(size));
    Philox stream(3, Site{static_cast<std::uint32_t>(size), 0, Draw{Use::world, 0}});
    // The weights are small integers: every partial sum is exact, so both witnesses must agree bit for bit.
    double total = 0;
    for (double& probability : row) {
      probability = static_cast<double>(stream() % 4);
      total += probability;
    }
    row[row.size() / 2] += 1;
    total += 1;
    for (int k = 0; k < 50; ++k) {
      const double u = open_unit(stream());
      double below = 0;
      Token expected = 0;
      while (below + row[static_cast<std::size_t>(expected)] <= u * total) {
        below += row[static_cast<std::size_t>(expected++)];
      }
      CHECK(categorical_at(row, u) == expected);
    }
  }
}

TEST_CASE("enumeration visits every leaf once, with probabilities that sum to 1") {
  const std::vector<double> weights{1, 0, 3};
  double total = 0;
  int leaves = 0;
  enumerate<double>(
      [&](auto& random) {
        const bool heads = random.bernoulli(any_draw, 0.25);
        if (!heads) return Token{-1};
        return random.categorical(Draw{Use::draft, 1}, Row{weights.data(), 3});
      },
      [&](Token token, double probability) {
        ++leaves;
        total += probability;
        if (token == -1) CHECK(probability == 0.75);
        if (token == 0) CHECK(probability == 0.0625);
        if (token == 2) CHECK(probability == 0.1875);
        CHECK(token != 1);
      });
  CHECK(leaves == 3);
  CHECK(total == 1);
}

TEST_CASE("enumeration refuses two choices at one address in a round, and allows them in two rounds") {
  const auto run = [](Draw first, Draw second, double probability, bool rounds) {
    int leaves = 0;
    enumerate<double>(
        [&](auto& random) {
          random.bernoulli(first, probability);
          if (rounds) random.next_round();
          return random.bernoulli(second, 0.5);
        },
        [&](bool, double) { ++leaves; });
    return leaves;
  };
  constexpr Draw accept{Use::accept, 3};
  CHECK_THROWS_WITH_AS(run(accept, accept, 0.5, false), doctest::Contains("Draw{Use::accept, 3, 0}"),
                       std::invalid_argument);
  CHECK_THROWS_AS(run(any_draw, any_draw, 0.5, false), std::invalid_argument);
  CHECK(run(accept, accept, 0.5, true) == 4);
  CHECK(run(accept, accept, 1, false) == 2);  // the first has one outcome
  CHECK(run(accept, Draw{Use::accept, 3, 1}, 0.5, false) == 4);
  CHECK(run(accept, Draw{Use::accept, 4}, 0.5, false) == 4);
}

TEST_CASE("enumeration refuses a program that does not repeat its draws") {
  int runs = 0;
  const auto less = [&](auto& random) { return ++runs > 1 || random.bernoulli(any_draw, 0.25); };
  const auto moved = [&](auto& random) {
    return random.bernoulli(Draw{Use::accept, static_cast<std::uint16_t>(++runs)}, 0.25);
  };
  const auto ignore = [](bool, double) {};
  CHECK_THROWS_WITH_AS(enumerate<double>(less, ignore), doctest::Contains("other draws than before"),
                       std::invalid_argument);
  CHECK_THROWS_AS(enumerate<double>(moved, ignore), std::invalid_argument);
}
