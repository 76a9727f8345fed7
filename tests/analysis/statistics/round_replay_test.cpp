#include "analysis/statistics/round_replay.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "serving/server/acceptance_law.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

/// Returns rounds of `gamma` along a text whose positions are easy or hard in runs.
std::vector<LoggedRound> along_text(const TextLaw& law, int gamma, int rounds, std::uint64_t seed) {
  const AcceptanceDraws draws(law, seed);
  RequestAcceptance own = draws.begin(0);
  std::vector<LoggedRound> log;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(rounds); ++i) {
    const std::uint32_t accepted = draws.accepted(own, 0, i, static_cast<std::uint32_t>(gamma));
    draws.advance(own, 0, accepted + 1);
    log.push_back({gamma, static_cast<int>(accepted)});
  }
  return log;
}

}  // namespace

TEST_CASE("a logged text is cut into rounds by hand") {
  // The accepted positions of drafts of 3 are 110, 0, 111 and one that was not drafted, ten times.
  std::vector<LoggedRound> log;
  for (int i = 0; i < 40; ++i) {
    log.push_back({3, 2});
    log.push_back({3, 0});
    log.push_back({3, 3});
  }
  const ReplayedTokens found = replayed_tokens(log, 0.95);
  REQUIRE(found.tokens.size() == 4);
  CHECK(found.tokens[0] == 1);
  // gamma 1 cuts 1 1 | 0 | 0 | 1 1 | 1 u: rounds of 2, 1, 1, 2, 2 of eight positions; the last ends whatever
  // u is.
  CHECK(found.tokens[1] == doctest::Approx(8.0 / 5).epsilon(0.01));
  // gamma 2 cuts 1 1 0 | 0 | 1 1 1 | u: the last is a separate round if u is 0; else it begins the next one,
  // 1 1 1 | 0 | 0 | ... All third drafts were accepted, except in rounds that ended before: the share of u is
  // 1.
  CHECK(found.tokens[3] == doctest::Approx(8.0 / 3).epsilon(0.01));
  CHECK(found.reached[3][3] == doctest::Approx(1.0 / 3).epsilon(0.01));
  CHECK(found.reached[3][1] == doctest::Approx(2.0 / 3).epsilon(0.01));
  CHECK(replayed_tokens(std::vector<LoggedRound>(39, {3, 1}), 0.95).tokens.empty());
}

TEST_CASE("rounds of seven give those of every shorter draft along a text, where rates by position do not") {
  // Null: the replayed mean is that of rounds of the shorter draft. Two independent simulations of 100,000
  // rounds each, whose standard error is below .01 of the mean; 6 gammas. Rates by position, the planted
  // fault, are off by more.
  const TextLaw law{{0.97, 0.35}, {0.08, 0.15}};
  const std::vector<LoggedRound> log = along_text(law, 7, 100000, 3);
  const ReplayedTokens replay = replayed_tokens(log, 0.95);
  const PositionalTokens positions = positional_tokens(count_positions(log), 0.95);
  double worst = 0;
  for (int gamma = 1; gamma <= 6; ++gamma) {
    CAPTURE(gamma);
    const auto at = static_cast<std::size_t>(gamma);
    const double wanted = 1 + mean_accepted(law, static_cast<std::uint32_t>(gamma));
    CHECK(replay.tokens[at] == doctest::Approx(wanted).epsilon(0.015));
    worst = std::max(worst, std::abs(positions.tokens[at] / wanted - 1));
    // Every round accepts at least 0 tokens.
    CHECK(replay.reached[at].front() == 1);
  }
  CHECK(worst > 0.05);
  // Rounds of gamma 7 itself are not cut.
  CHECK(replay.tokens[7] == doctest::Approx(positions.tokens[7]).epsilon(0.01));
}

TEST_CASE("bounds of replayed rounds cover") {
  // 400 logs of 600 rounds, at 95%: fewer than 360 would be 5 standard errors below.
  const TextLaw law{{0.9, 0.4}, {0.2, 0.3}};
  int held = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const ReplayedTokens replay = replayed_tokens(along_text(law, 5, 600, 1000 + seed), 0.95);
    const double wanted = 1 + mean_accepted(law, 2);
    held += replay.low[2] <= wanted && wanted <= replay.high[2] ? 1 : 0;
  }
  CHECK(held >= 360);
}
