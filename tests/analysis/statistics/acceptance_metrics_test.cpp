#include "analysis/statistics/acceptance_metrics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using namespace speclab;

TEST_CASE("acceptance metrics: three rounds by hand") {
  // 3 of 4, 0 of 4 and 2 of 2 drafted tokens are accepted; 4, 1 and 2 are examined.
  const AcceptanceMetrics metrics =
      acceptance_metrics(sums_of(std::vector<LoggedRound>{{4, 3}, {4, 0}, {2, 2}}));
  CHECK(metrics.accepted_of_drafted == doctest::Approx(5.0 / 10));
  CHECK(*metrics.accepted_of_examined == doctest::Approx(5.0 / 7));
  CHECK(metrics.accepted_of_emitted == doctest::Approx(5.0 / 8));
  CHECK(metrics.emitted_of_verified == doctest::Approx(8.0 / 13));
  CHECK(metrics.accepted_a_round == doctest::Approx(5.0 / 3));
  CHECK(metrics.emitted_a_round == doctest::Approx(8.0 / 3));
  CHECK(*metrics.mean_of_rates == doctest::Approx((0.75 + 0 + 1) / 3));
  // Only the first round examined position 3, since the last one drafted two tokens.
  REQUIRE(metrics.by_position.size() == 4);
  CHECK(metrics.by_position[0] == doctest::Approx(2.0 / 3));
  CHECK(metrics.by_position[2] == doctest::Approx(1.0 / 3));
  CHECK(metrics.by_position[3] == 0);
  REQUIRE(metrics.by_position_given.size() == 4);
  CHECK(metrics.by_position_given[0] == doctest::Approx(2.0 / 3));
  CHECK(metrics.by_position_given[1] == doctest::Approx(1));
  CHECK(metrics.by_position_given[2] == doctest::Approx(1));
  CHECK(metrics.by_position_given[3] == 0);
}

TEST_CASE("acceptance metrics: the identities between definitions") {
  // Counts 2,000 rounds of unequal lengths, seed 1, again one by one.
  std::mt19937_64 random(1);
  std::vector<LoggedRound> log;
  double drafted = 0, accepted = 0, examined = 0, emitted = 0;
  for (int i = 0; i < 2000; ++i) {
    const int length = 1 + static_cast<int>(random() % 6);
    int kept = 0;
    while (kept < length && std::uniform_real_distribution<double>()(random) < 0.7) ++kept;
    log.push_back({length, kept});
    drafted += length;
    accepted += kept;
    examined += kept < length ? kept + 1 : kept;
    emitted += kept + 1;
  }
  const auto rounds = static_cast<double>(log.size());
  const AcceptanceMetrics metrics = acceptance_metrics(sums_of(log));
  CHECK(metrics.accepted_of_drafted == doctest::Approx(accepted / drafted));
  CHECK(*metrics.accepted_of_examined == doctest::Approx(accepted / examined));
  CHECK(metrics.accepted_of_emitted == doctest::Approx(accepted / emitted));
  CHECK(metrics.emitted_of_verified == doctest::Approx(emitted / (drafted + rounds)));
  // Length and rates are related: L = 1 + (drafted per round) (accepted / drafted) = 1 / (1 - accepted /
  // emitted).
  const double length = metrics.emitted_a_round;
  CHECK(length == doctest::Approx(metrics.accepted_a_round + 1));
  CHECK(length == doctest::Approx(1 + drafted / rounds * metrics.accepted_of_drafted));
  CHECK(length == doctest::Approx(1 / (1 - metrics.accepted_of_emitted)));
  CHECK(length == doctest::Approx(metrics.emitted_of_verified * (drafted / rounds + 1)));
  double sum = 1;
  for (const double rate : metrics.by_position) sum += rate;
  CHECK(length == doctest::Approx(sum));
  // With unequal lengths the mean of rates is a different number, and products of conditional rates are not
  // the rates of all rounds.
  CHECK(*metrics.mean_of_rates != doctest::Approx(metrics.accepted_of_drafted).epsilon(1e-3));
  CHECK(metrics.by_position_given[0] * metrics.by_position_given[1] > metrics.by_position[1] + 0.01);
}

TEST_CASE("acceptance metrics: rounds of one length, from counts and from rates") {
  const std::vector<std::uint64_t> accepted{835, 670, 503};
  const AcceptanceMetrics counted = acceptance_metrics(sums_of(count_positions(1000, accepted), 3000));
  const AcceptanceMetrics meant = acceptance_metrics(mean_round(std::vector<double>{0.835, 0.67, 0.503}));
  CHECK(counted.accepted_of_drafted == doctest::Approx(2008.0 / 3000));
  CHECK(*counted.accepted_of_examined == doctest::Approx(2008.0 / (1000 + 835 + 670)));
  CHECK(meant.accepted_of_drafted == doctest::Approx(counted.accepted_of_drafted));
  CHECK(*meant.accepted_of_examined == doctest::Approx(*counted.accepted_of_examined));
  CHECK(meant.emitted_a_round == doctest::Approx(counted.emitted_a_round));
  CHECK(*meant.mean_of_rates == doctest::Approx(meant.accepted_of_drafted));
  double length = 1, product = 1;
  for (const double given : counted.by_position_given) length += product *= given;
  CHECK(length == doctest::Approx(counted.emitted_a_round));
  // Totals in which some rounds were shorter do not tell what was examined.
  const AcceptanceMetrics some = acceptance_metrics(sums_of(count_positions(1000, accepted), 2900));
  CHECK(some.accepted_of_drafted == doctest::Approx(2008.0 / 2900));
  CHECK_FALSE(some.accepted_of_examined.has_value());
  CHECK(some.by_position_given.empty());
  CHECK(some.by_position.size() == 3);
  // Nothing was accepted: the second position was never examined.
  const AcceptanceMetrics none =
      acceptance_metrics(sums_of(count_positions(10, std::vector<std::uint64_t>{0, 0}), 20));
  CHECK(*none.accepted_of_examined == 0);
  CHECK(none.by_position_given.size() == 1);
  CHECK(none.emitted_a_round == 1);
}
