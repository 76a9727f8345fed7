// Tests whether intervals contain the truth if only few batches carry information: short sequences that are
// mostly equal, and states that few sequences reach. Null: an interval of 95% covers in a share of .95 of
// 1,000 runs or more, 7 sigma: .902. Wide ones may cover more.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "core/random/philox.hpp"
#include "sim/simulation_size.hpp"
#include "tests/analysis/statistics/batch_ratio.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

constexpr std::uint32_t rare_repeats = 1000;
constexpr std::int32_t rare_drafts = 2;
constexpr double rare_confidence = 0.95;
constexpr CostRatios rare_cost{0.05, 0.05};

/// A text in one of two states; after each token the state is left with these probabilities. A drafted token
/// is accepted with the state's overlap. Each sequence begins in the first state.
struct States {
  std::array<double, 2> overlap;
  std::array<double, 2> leave;
};

using Numbers = std::map<std::string, double>;
using Measured = std::map<std::string, Interval>;
using StateShares = std::array<double, 2>;

StateShares after_token(const States& states, const StateShares& at) {
  return {at[0] * (1 - states.leave[0]) + at[1] * states.leave[1],
          at[0] * states.leave[0] + at[1] * (1 - states.leave[1])};
}

/// Computes the expected numbers by following the probabilities of the states through every round.
Numbers expected_of(const States& states, std::uint32_t length) {
  StateShares start{1, 0};
  double overlap = 0;
  double examined = 0;
  std::array<double, rare_drafts + 1> of_length{};
  for (std::uint32_t round = 0; round < length; ++round) {
    overlap += start[0] * states.overlap[0] + start[1] * states.overlap[1];
    StateShares alive = start;
    StateShares next{};
    for (std::size_t drafted = 0; drafted <= rare_drafts; ++drafted) {
      StateShares rejected = alive;  // after all drafts: the bonus token
      StateShares accepted{};
      if (drafted < rare_drafts) {
        examined += alive[0] + alive[1];
        for (std::size_t state : {0, 1}) {
          accepted[state] = alive[state] * states.overlap[state];
          rejected[state] -= accepted[state];
        }
      }
      of_length[drafted] += rejected[0] + rejected[1];
      const StateShares ended = after_token(states, rejected);
      next[0] += ended[0];
      next[1] += ended[1];
      alive = after_token(states, accepted);
    }
    start = next;
  }
  double accepted = 0;
  double squares = 0;
  for (std::size_t k = 0; k <= rare_drafts; ++k) {
    accepted += static_cast<double>(k) * of_length[k];
    squares += static_cast<double>(k * k) * of_length[k];
  }
  const double rounds = length;
  const double tokens = 1 + accepted / rounds;
  return {{"alpha_overlap", overlap / rounds},
          {"alpha_examined", accepted / examined},
          {"alpha_drafted", accepted / rounds / rare_drafts},
          {"tokens_per_target_step", tokens},
          {"tokens_variance", squares / rounds - (tokens - 1) * (tokens - 1)},
          {"speedup", tokens / (1 + rare_cost.c * rare_drafts)},
          {"operations", (1 + (1 + rare_cost.c_hat) * rare_drafts) / tokens},
          {"memory_accesses", 1 / tokens}};
}

std::vector<Tally> decoded(const States& states, const SimulationSize& size) {
  const BatchCut cut = size.cut();
  std::vector<Tally> batches(cut.count());
  for (std::uint32_t trial = 0; trial < size.trials; ++trial) {
    Philox stream(size.seed, Site{trial, 0, Draw{Use::world, 0}});
    std::size_t state = 0;
    const auto token = [&] { state = open_unit(stream()) < states.leave[state] ? 1 - state : state; };
    for (std::uint32_t round = 0; round < size.length; ++round) {
      Tally& batch = batches[cut.batch_of(std::uint64_t{trial} * size.length + round)];
      batch.add_overlap(states.overlap[state]);
      std::int32_t accepted = 0;
      while (accepted < rare_drafts && open_unit(stream()) < states.overlap[state]) {
        ++accepted;
        token();
      }
      token();
      batch.add_round(Round{rare_drafts, rare_drafts, std::min(accepted + 1, rare_drafts), accepted, 0});
    }
  }
  return batches;
}

Measured by_estimates(const std::vector<Tally>& batches) {
  Measured all;
  for (const Estimate& one : estimates(batches, rare_cost, rare_confidence)) {
    if (one.interval) all.emplace(one.name, *one.interval);
  }
  return all;
}

/// Planted faults: Student's t for any values of the batches, and a bound of the mean of their ratios.
Measured by_students_t(const std::vector<Tally>& batches) {
  return {{"alpha_overlap",
           *ratio_over_batches(
               batches, [](const Tally& t) { return t.overlap_sum(); },
               [](const Tally& t) { return static_cast<double>(t.overlap_contexts); }, rare_confidence)}};
}
Measured by_mean_of_ratios(const std::vector<Tally>& batches) {
  std::map<double, std::uint64_t> values;
  for (const Tally& batch : batches)
    ++values[static_cast<double>(batch.rounds) / static_cast<double>(batch.emitted)];
  return {{"memory_accesses", bounded_mean_interval(values, {1.0 / (1 + rare_drafts), 1}, rare_confidence)}};
}

/// Returns the share of runs whose interval contains the truth, by name.
Numbers covered(const States& states, std::uint32_t trials, std::uint32_t length,
                const std::function<Measured(const std::vector<Tally>&)>& intervals) {
  const Numbers expected = expected_of(states, length);
  Numbers shares;
  for (std::uint32_t repeat = 0; repeat < rare_repeats; ++repeat) {
    SimulationSize size;
    size.seed = test_seed(9300) + repeat;
    size.trials = trials;
    size.length = length;
    for (const auto& [name, interval] : intervals(decoded(states, size))) {
      shares[name] += interval.holds(expected.at(name)) ? 1.0 / rare_repeats : 0.0;
    }
  }
  return shares;
}

const double min_share =
    rare_confidence - bound_in_sigmas * std::sqrt(rare_confidence * (1 - rare_confidence) / rare_repeats);

void check_all_cover(const States& states, std::uint32_t trials, std::uint32_t length) {
  CAPTURE(trials);
  CAPTURE(length);
  const Numbers shares = covered(states, trials, length, by_estimates);
  CHECK(shares.size() == 8);
  for (const auto& [name, share] : shares) {
    CAPTURE(name);
    CAPTURE(share);
    CHECK(share >= min_share);
  }
}

constexpr States sticky{{1, 0.45}, {0.05, 0.05}};
constexpr States sudden{{0.9, 0.2}, {0.1, 0.1}};
constexpr States seldom{{1, 0.3}, {0.01, 0.2}};
constexpr States hardly{{1, 0.2}, {0.002, 0.1}};

}  // namespace

TEST_CASE("three rounds in each of 64 sequences, most of them alike") {
  check_all_cover(sticky, 64, 3);
  check_all_cover(sudden, 64, 3);
  check_all_cover(sticky, 64, 6);
  CHECK(covered(sudden, 64, 3, by_mean_of_ratios).at("memory_accesses") < min_share);
}

TEST_CASE("long: a state that few of the sequences come to, or none") {
  check_all_cover(seldom, 16, 20);
  check_all_cover(seldom, 8, 50);
  check_all_cover(seldom, 64, 20);
  check_all_cover(hardly, 16, 20);
  check_all_cover(hardly, 64, 100);
  CHECK(covered(hardly, 16, 20, by_students_t).at("alpha_overlap") < min_share);
}
