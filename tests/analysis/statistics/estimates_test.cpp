#include "analysis/statistics/estimates.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analysis/theory/theorems.hpp"
#include "core/random/philox.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

std::map<std::string, Interval> by_name(const std::vector<Tally>& batches, const CostRatios& cost,
                                        double confidence) {
  std::map<std::string, Interval> all;
  for (const Estimate& estimate : estimates(batches, cost, confidence)) {
    if (estimate.interval) all.emplace(estimate.name, *estimate.interval);
  }
  return all;
}

/// Adds one round under the paper's i.i.d. assumption.
void add_round(Tally& tally, Philox& stream, double alpha, std::int32_t gamma) {
  std::int32_t accepted = 0;
  while (accepted < gamma && open_unit(stream()) < alpha) ++accepted;
  tally.add_round(Round{gamma, gamma, std::min(accepted + 1, gamma), accepted, 0});
}

std::vector<Tally> simulate(std::uint32_t repeat, std::size_t batches, int rounds, double alpha,
                            std::int32_t gamma) {
  Philox stream(test_seed(1771), Site{repeat, 0, Draw{Use::world, 0}});
  std::vector<Tally> all(batches);
  for (Tally& tally : all) {
    for (int round = 0; round < rounds; ++round) add_round(tally, stream, alpha, gamma);
  }
  return all;
}

}  // namespace

TEST_CASE("estimators by hand") {
  // gamma = 2. In batch one a round accepts all, then one none; in batch two a round accepts one token, then
  // one all.
  std::vector<Tally> batches(2);
  batches[0].add_round(Round{2, 2, 2, 2, 0});
  batches[0].add_round(Round{2, 2, 1, 0, 0});
  batches[1].add_round(Round{2, 2, 2, 1, 0});
  batches[1].add_round(Round{2, 2, 2, 2, 0});
  for (const double overlap : {0.5, 0.25, 0.75, 0.5}) batches[0].add_overlap(overlap);
  batches[1].add_overlap(1);
  const auto found = by_name(batches, {0.1, 0.25}, 0.95);
  CHECK(found.size() == 8);
  CHECK(found.at("alpha_overlap").estimate == doctest::Approx(3.0 / 5));
  CHECK(found.at("alpha_examined").estimate == doctest::Approx(5.0 / 7));
  CHECK(found.at("alpha_drafted").estimate == doctest::Approx(5.0 / 8));
  CHECK(found.at("tokens_per_target_step").estimate == doctest::Approx(9.0 / 4));
  // The tokens are 3, 1, 2, 3; their mean is 9/4.
  CHECK(found.at("tokens_variance").estimate == doctest::Approx(11.0 / 16));
  CHECK(found.at("speedup").estimate == doctest::Approx(9 / (4 + 0.1 * 8)));
  // The target evaluates 4 rounds of 3 positions; there are 8 draft runs.
  CHECK(found.at("operations").estimate == doctest::Approx((12 + 0.25 * 8) / 9));
  CHECK(found.at("memory_accesses").estimate == doctest::Approx(4.0 / 9));
  CHECK(batch_speedup(batches[0], 0.1) == doctest::Approx(4 / 2.4));
  for (const auto& [name, interval] : found) {
    CAPTURE(name);
    CHECK(interval.low <= interval.estimate);
    CHECK(interval.estimate <= interval.high);
  }

  const auto positions = acceptance_by_position(batches, 3, 0.95);
  REQUIRE(positions.size() == 3);
  CHECK(positions[0].unconditional.value().estimate == doctest::Approx(3.0 / 4));
  CHECK(positions[1].unconditional.value().estimate == doctest::Approx(2.0 / 4));
  CHECK(positions[1].conditional.value().estimate == doctest::Approx(2.0 / 3));
  CHECK(positions[2].unconditional.value().estimate == 0);
  CHECK(positions[2].conditional.value().estimate == 0);
}

TEST_CASE("an acceptance measurement has alpha_overlap alone; nothing has nothing") {
  std::vector<Tally> batches(2);
  batches[0].add_overlap(0.5);
  batches[1].add_overlap(1);
  const auto found = by_name(batches, {}, 0.95);
  CHECK(found.size() == 1);
  CHECK(found.at("alpha_overlap").estimate == doctest::Approx(0.75));
  CHECK(by_name({}, {}, 0.95).empty());
  std::vector<Tally> rejecting(2);
  for (Tally& tally : rejecting) tally.add_round(Round{2, 2, 1, 0, 0});
  const auto positions = acceptance_by_position(rejecting, 2, 0.95);
  CHECK(positions[0].unconditional.has_value());
  CHECK_FALSE(positions[1].conditional.has_value());
}

TEST_CASE("a mean over contexts that are alike has the width of their rounding, within 0 and 1") {
  const auto mean_of = [](double overlap) {
    std::vector<Tally> batches(4);
    for (Tally& tally : batches) tally.add_overlap(overlap);
    const TallyPart sum = [](const Tally& t) { return t.overlap_sum(); };
    const TallyPart contexts = [](const Tally& t) { return static_cast<double>(t.overlap_contexts); };
    return context_mean(batches, sum, contexts, 0.95, Independence::rounds).value();
  };
  for (const double overlap : {0.0, 0.8, 1.0}) {
    const Interval mean = mean_of(overlap);
    CAPTURE(overlap);
    CHECK(mean.low >= 0);
    CHECK(mean.high <= 1);
    CHECK(mean.low <= overlap);
    CHECK(mean.high >= overlap);
    CHECK(mean.low < mean.high);
    CHECK(mean.high - mean.low < 1e-9);
  }
}

TEST_CASE("intervals cover the closed forms about as often as they say") {
  // Null: coverage is Binomial(repeats, .9). The margin is seven sigma, .047, for each of seven metrics, and
  // .01 for the ratio's bias and the skewness of a batch. Power: intervals too short by a third cover .73 of
  // the time, and are rejected.
  constexpr int repeats = 2000;
  constexpr double alpha = 0.7;
  constexpr int gamma = 4;
  const CostRatios cost{0.1, 0.2};
  const std::map<std::string, double> exact{{"alpha_examined", alpha},
                                            {"alpha_drafted", (expected_tokens(alpha, gamma) - 1) / gamma},
                                            {"tokens_per_target_step", expected_tokens(alpha, gamma)},
                                            {"tokens_variance", tokens_variance(alpha, gamma)},
                                            {"speedup", speedup(alpha, gamma, cost.c)},
                                            {"operations", operations(alpha, gamma, cost.c_hat)},
                                            {"memory_accesses", memory_accesses(alpha, gamma)}};
  std::map<std::string, int> covered;
  std::map<std::string, int> covered_by_short;
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const auto found = by_name(simulate(repeat, 64, 40, alpha, gamma), cost, 0.9);
    for (const auto& [name, value] : exact) {
      const Interval& interval = found.at(name);
      const double distance = std::abs(value - interval.estimate);
      covered[name] += distance <= interval.half_width() ? 1 : 0;
      covered_by_short[name] += distance <= interval.half_width() * 2 / 3 ? 1 : 0;
    }
  }
  const auto plausible = [](int hits) {
    return std::abs(hits / double{repeats} - 0.9) <= bound_in_sigmas * std::sqrt(0.09 / repeats) + 0.01;
  };
  for (const auto& [name, value] : exact) {
    CAPTURE(name);
    CAPTURE(covered[name]);
    CHECK(plausible(covered[name]));
    CHECK_FALSE(plausible(covered_by_short[name]));
  }
}

TEST_CASE("acceptance by position: alpha^i, and alpha given the positions before") {
  // Null: rounds are i.i.d. with acceptance alpha; 12 counts at seven sigma. Power: an alpha off by .02.
  constexpr double alpha = 0.8;
  constexpr int gamma = 6;
  constexpr double rounds = 64 * 2000;
  const auto positions = acceptance_by_position(simulate(7, 64, 2000, alpha, gamma), gamma, 0.95);
  REQUIRE(positions.size() == gamma);
  const auto agree = [&](double supposed) {
    bool all = true;
    double reached = rounds;
    for (int i = 1; i <= gamma; ++i) {
      const auto& at = positions[static_cast<std::size_t>(i - 1)];
      const double unconditional = at.unconditional.value().estimate;
      all = all && count_agrees(unconditional * rounds, rounds, std::pow(supposed, i)) &&
            count_agrees(at.conditional.value().estimate * reached, reached, supposed);
      reached = unconditional * rounds;
    }
    return all;
  };
  CHECK(agree(alpha));
  CHECK_FALSE(agree(alpha + 0.02));
  CHECK_FALSE(agree(alpha - 0.02));
}
