#include "analysis/theory/schedule_theory.hpp"

#include <doctest/doctest.h>

#include <limits>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "analysis/theory/theorems.hpp"
#include "sim/schedules/asynchronous.hpp"
#include "sim/schedules/batched.hpp"
#include "sim/schedules/dsi.hpp"
#include "sim/schedules/hierarchical.hpp"
#include "sim/schedules/pearl.hpp"
#include "sim/schedules/rounds.hpp"
#include "sim/schedules/schedule.hpp"
#include "sim/schedules/speculative_function_execution.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

constexpr std::uint32_t trials = 64;
constexpr std::size_t spare = 1024;

SimulationSize plan_of(std::uint32_t length) {
  SimulationSize plan;
  plan.seed = test_seed(20240611);
  plan.trials = trials;
  plan.length = length;
  return plan;
}

struct Sums {
  std::vector<double> plain;
  std::vector<double> time;
};

template <class Schedule>
Sums simulate(const Schedule& schedule, double alpha, std::uint32_t length = 20'000) {
  const SimulationSize plan = plan_of(length);
  const auto bits = [&](std::uint32_t trial) {
    return iid_acceptances(alpha, plan.seed, trial, plan.length + spare);
  };
  Sums sums;
  for (std::uint32_t trial = 0; trial < trials; ++trial) {
    const AcceptanceBits positions = bits(trial);
    NoEvents nobody;
    const Elapsed elapsed =
        run_schedule(schedule, Acceptances{positions, plan.length, plan.seed, trial}, nobody);
    sums.plain.push_back(elapsed.plain_time);
    sums.time.push_back(elapsed.time);
  }
  return sums;
}

/// Null: `formula` is the long-run speedup over independent acceptances. The trials are independent and long,
/// so that Student's t holds; false alarms are as rare as p_value_bound.
bool follows(const Sums& sums, double formula) {
  const Interval interval = *ratio_interval(sums.plain, sums.time, 1 - p_value_bound);
  return interval.low <= formula && formula <= interval.high;
}

template <class Schedule>
bool follows(const Schedule& schedule, double alpha, double formula, std::uint32_t length = 20'000) {
  return follows(simulate(schedule, alpha, length), formula);
}

/// Rounds that emit nothing after the last accepted draft: the planted fault of a forgotten bonus token.
struct WithoutBonus {
  std::uint64_t gamma;
  double c;
};

template <class Events>
Elapsed run_schedule(const WithoutBonus& schedule, const Acceptances& text, Events&) {
  Elapsed elapsed;
  while (elapsed.tokens < text.tokens) {
    const std::uint64_t kept = text.leading(elapsed.tokens, schedule.gamma);
    elapsed.tokens += kept == schedule.gamma ? kept : kept + 1;
    elapsed.time += 1 + schedule.c * static_cast<double>(schedule.gamma);
  }
  elapsed.plain_time = static_cast<double>(elapsed.tokens);
  return elapsed;
}

int as_int(std::uint64_t value) { return static_cast<int>(value); }

}  // namespace

TEST_CASE("rounds: Thm 3.8, heads and upper bounds lie within their intervals") {
  for (const double alpha : {0.3, 0.8, 0.95}) {
    for (const double c : {0.02, 0.2}) {
      for (const std::uint64_t gamma : {1, 4, 8}) {
        CAPTURE(alpha);
        CAPTURE(c);
        CAPTURE(gamma);
        CHECK(follows(Speculative{gamma, c}, alpha, speedup(alpha, as_int(gamma), c)));
        CHECK(follows(Heads{gamma, c}, alpha, heads_speedup(alpha, as_int(gamma), c)));
        CHECK(follows(UpperBound{gamma, c}, alpha, speedup_bound_capped(alpha, as_int(gamma), c)));
      }
      CHECK(follows(UpperBound{500, c}, alpha, *speedup_bound_drafting_paid(alpha, c)));
    }
    CHECK(follows(UpperBound{500, 0}, alpha, *speedup_bound_drafting_free(alpha)));
    // Where a draft run takes longer than a target run, the oracle drafts nothing.
    CHECK(follows(UpperBound{8, 1.5}, alpha, 1));
    CHECK(speedup_bound_capped(alpha, 8, 1.5) == doctest::Approx(1));
    CHECK(*speedup_bound_drafting_paid(alpha, 1.5) == doctest::Approx(1));
    CHECK(follows(Plain{}, alpha, 1));
  }
}

TEST_CASE("a forgotten bonus token is found out, also where it is rare") {
  CHECK_FALSE(follows(WithoutBonus{4, 0.05}, 0.8, speedup(0.8, 4, 0.05)));
  CHECK_FALSE(follows(WithoutBonus{8, 0.05}, 0.8, speedup(0.8, 8, 0.05)));
}

TEST_CASE("hierarchies follow their exact form, and not the usual approximation") {
  const std::vector<LevelInputs> two{{0.8, 4, 0.2}, {0.9, 4, 0.02}};
  const std::vector<LevelInputs> three{{0.9, 2, 0.3}, {0.8, 4, 0.05}, {0.6, 3, 0.01}};
  for (const std::vector<LevelInputs>& levels : {two, three}) {
    Hierarchical schedule;
    for (const LevelInputs& level : levels) {
      schedule.levels.push_back({static_cast<std::uint64_t>(level.gamma), level.c, level.alpha});
    }
    const Sums sums = simulate(schedule, levels.front().alpha);
    CHECK(follows(sums, hierarchical_speedup(levels)));
    CHECK_FALSE(follows(sums, hierarchical_speedup_usual(levels)));
  }
  const std::vector<LevelInputs> one{{0.8, 4, 0.2}};
  CHECK(hierarchical_speedup(one) == doctest::Approx(speedup(0.8, 4, 0.2)));
  CHECK(hierarchical_speedup_usual(one) == doctest::Approx(speedup(0.8, 4, 0.2)));
}

TEST_CASE("a hierarchy whose second level is never accepted drafts a token a round") {
  // Each round of the middle model then takes c_1 + gamma_2 c_2 and gives one token, so that there is no
  // surplus and the approximation is exact.
  const std::vector<LevelInputs> levels{{0.8, 4, 0.2}, {0, 3, 0.02}};
  CHECK(hierarchical_speedup(levels) == doctest::Approx(speedup(0.8, 4, 0.26)));
  CHECK(hierarchical_speedup_usual(levels) == doctest::Approx(speedup(0.8, 4, 0.26)));
}

TEST_CASE("DSI with as many servers as it asks for") {
  for (const double alpha : {0.3, 0.95}) {
    for (const double c : {0.05, 0.3, 1.0}) {
      for (const std::uint64_t lookahead : {1, 10}) {
        CAPTURE(alpha);
        CAPTURE(c);
        CAPTURE(lookahead);
        const double formula = *dsi_speedup(alpha, c, as_int(lookahead));
        CHECK(follows(Dsi{0, lookahead, c}, alpha, formula, 10'000));
        const int enough = dsi_servers(c, as_int(lookahead));
        CHECK(*dsi_speedup(alpha, c, as_int(lookahead), enough) == doctest::Approx(formula));
        CHECK(follows(Dsi{static_cast<std::uint64_t>(enough), lookahead, c}, alpha, formula, 10'000));
      }
      CHECK(*dsi_speedup(alpha, c, 1) == doctest::Approx(*speedup_bound_drafting_paid(alpha, c)));
    }
  }
  // The printed form only holds for lookahead 1.
  CHECK_FALSE(follows(Dsi{0, 3, 0.3}, 0.8, 1 / (1 - 0.8 + 0.3 * 0.8)));
  CHECK(dsi_servers(0.05, 1) == 20);
  CHECK(dsi_servers(0.05, 5) == 4);
  CHECK(dsi_servers(0.3, 1) == 4);
  CHECK(dsi_servers(1e-9, 1) == 1'000'000'000);
  for (const double c : {1e-10, 1e-300, 5e-324}) CHECK(dsi_servers(c, 1) == std::numeric_limits<int>::max());
  CHECK_FALSE(dsi_speedup(1, 0.1, 1).has_value());
}

TEST_CASE("DSI with too few servers") {
  for (const double alpha : {0.3, 0.95}) {
    for (const double c : {0.05, 0.3}) {
      for (const int servers : {1, 3}) {
        for (const std::uint64_t lookahead : {1, 4}) {
          CAPTURE(alpha);
          CAPTURE(c);
          CAPTURE(servers);
          CAPTURE(lookahead);
          const double formula = *dsi_speedup(alpha, c, as_int(lookahead), servers);
          CHECK(follows(Dsi{static_cast<std::uint64_t>(servers), lookahead, c}, alpha, formula, 10'000));
          CHECK(formula <= *dsi_speedup(alpha, c, as_int(lookahead), servers + 1) * (1 + 1e-12));
        }
      }
    }
  }
  CHECK_FALSE(follows(Dsi{2, 1, 0.05}, 0.8, *dsi_speedup(0.8, 0.05, 1)));
  // With one server and a draft as slow as the target, every run decides one token more than the last.
  CHECK(*dsi_speedup(0.8, 1, 1, 1) == doctest::Approx(1));
}

TEST_CASE("PEARL: the printed form is the program's; using the row after the block is another") {
  for (const double alpha : {0.3, 0.8, 0.95}) {
    for (const std::uint64_t gamma : {1, 2, 5}) {
      for (const double c : {0.05, 0.5}) {
        CAPTURE(alpha);
        CAPTURE(gamma);
        CAPTURE(c);
        const double printed =
            1 / (1 - alpha) /
            (1 + alpha + std::pow(alpha, as_int(gamma)) / (1 - std::pow(alpha, as_int(gamma)))) /
            std::max(1.0, static_cast<double>(gamma) * c);
        CHECK(pearl_speedup(alpha, as_int(gamma), c) == doctest::Approx(printed));
        CHECK(follows(Pearl{gamma, c, false}, alpha, printed));
        CHECK(follows(Pearl{gamma, c, true}, alpha, pearl_speedup_next_row(alpha, as_int(gamma), c)));
      }
    }
  }
  CHECK_FALSE(follows(Pearl{5, 0.05, true}, 0.8, pearl_speedup(0.8, 5, 0.05)));
  CHECK_FALSE(follows(Pearl{5, 0.05, false}, 0.8, pearl_speedup_next_row(0.8, 5, 0.05)));
  CHECK(pearl_speedup(1, 5, 0.05) == doctest::Approx(5));
  CHECK(pearl_speedup_next_row(1, 5, 0.05) == doctest::Approx(5));
}

TEST_CASE("PEARL with as many drafts as fit into a target run is DSI with one server") {
  for (const double alpha : {0.0, 0.3, 0.8, 0.99}) {
    for (const int gamma : {1, 2, 5, 20}) {
      CAPTURE(alpha);
      CAPTURE(gamma);
      CHECK(pearl_speedup_next_row(alpha, gamma, 1.0 / gamma) ==
            doctest::Approx(*dsi_speedup(alpha, 1.0 / gamma, 1, 1)));
    }
  }
}

TEST_CASE("drafts for likely outcomes: after a miss drafted, or plain") {
  for (const bool plain : {false, true}) {
    for (const double c : {0.05, 0.4}) {
      CAPTURE(plain);
      CAPTURE(c);
      CHECK(follows(Asynchronous{4, c, 0.8, plain}, 0.75, asynchronous_speedup(0.75, 4, c, 0.8, plain)));
      CHECK_FALSE(
          follows(Asynchronous{4, c, 0.8, plain}, 0.75, asynchronous_speedup(0.75, 4, c, 0.9, plain)));
    }
  }
  CHECK(asynchronous_speedup(0.8, 5, 0.05, 0, false) == doctest::Approx(speedup(0.8, 5, 0.05)));
}

TEST_CASE("two functions, with and without interrupts") {
  for (const double beta : {0.3, 0.9}) {
    for (const double g : {0.4, 1.0, 3.0}) {
      CAPTURE(beta);
      CAPTURE(g);
      CHECK(follows(SpeculativeFunctionExecution{1, g, 0.1, false}, beta,
                    speculative_function_speedup(beta, 1, g, 0.1)));
      CHECK(follows(SpeculativeFunctionExecution{1, g, 0.1, true}, beta,
                    speculative_function_speedup_interrupting(beta, 1, g, 0.1)));
    }
  }
  CHECK_FALSE(follows(SpeculativeFunctionExecution{1, 1, 0.1, true}, 0.3,
                      speculative_function_speedup(0.3, 1, 1, 0.1)));
  // g ends before f: there is nothing to interrupt.
  CHECK(speculative_function_speedup(0.3, 1, 0.4, 0.1) ==
        doctest::Approx(speculative_function_speedup_interrupting(0.3, 1, 0.4, 0.1)));
}

TEST_CASE("batches: places refilled, and batches that wait for their slowest sequence") {
  const SaturatingCost cost{24};
  for (const double alpha : {0.5, 0.9}) {
    for (const int sequences : {1, 6, 16}) {
      CAPTURE(alpha);
      CAPTURE(sequences);
      const auto width = static_cast<std::uint64_t>(sequences);
      // Sequences of trials are long: each place decodes very many sequences, and the end of the queue only
      // affects the last.
      CHECK(follows(Batched{width, 3, 0.05, 20, true, cost}, alpha,
                    batched_speedup_replaced(alpha, 3, 0.05, sequences, 20, cost), 60'000));
      CHECK(follows(Batched{width, 3, 0.05, 20, false, cost}, alpha,
                    batched_speedup_waves(alpha, 3, 0.05, sequences, 20, cost), 60'000));
    }
  }
  const Sums replaced = simulate(Batched{6, 3, 0.05, 20, true, cost}, 0.9, 60'000);
  CHECK_FALSE(follows(replaced, batched_speedup_usual(0.9, 3, 0.05, 6, cost)));
  CHECK_FALSE(follows(replaced, batched_speedup_waves(0.9, 3, 0.05, 6, 20, cost)));
  CHECK(follows(Batched{6, 3, 0.05, 20'000, true, cost}, 0.9, batched_speedup_usual(0.9, 3, 0.05, 6, cost),
                240'000));
}

TEST_CASE("batches of one sequence within memory's bound are Thm 3.8; far beyond it nothing is gained") {
  const SaturatingCost cost{1000};
  CHECK(batched_speedup_usual(0.8, 5, 0.05, 1, cost) == doctest::Approx(speedup(0.8, 5, 0.05)));
  CHECK(batched_speedup_usual(0.8, 5, 0.05, 4, cost) == doctest::Approx(speedup(0.8, 5, 0.05)));
  CHECK(batched_speedup_usual(0.8, 5, 0, 5000, cost) == doctest::Approx(expected_tokens(0.8, 5) / 6));
  CHECK(expected_rounds(0.8, 5, 1) == doctest::Approx(1));
  CHECK(expected_rounds(0, 5, 7) == doctest::Approx(7));
  CHECK(expected_rounds(1, 5, 7) == doctest::Approx(2));
  // With a single sequence the slowest is that sequence.
  CHECK(batched_speedup_waves(0.8, 5, 0.05, 1, 33, cost) ==
        doctest::Approx(batched_speedup_replaced(0.8, 5, 0.05, 1, 33, cost)));
}

TEST_CASE("paired differences: what both share cancels, and unpaired batches do not hide it") {
  const Sums fast = simulate(Speculative{5, 0.05}, 0.8);
  const Sums dear = simulate(Speculative{5, 0.1}, 0.8);
  const Interval gap =
      *paired_difference({fast.plain, fast.time}, {dear.plain, dear.time}, 1 - p_value_bound);
  const double expected = speedup(0.8, 5, 0.05) - speedup(0.8, 5, 0.1);
  CHECK(gap.low <= expected);
  CHECK(expected <= gap.high);
  const Interval alone = *ratio_interval(fast.plain, fast.time, 1 - p_value_bound);
  CHECK(gap.half_width() < 0.3 * alone.half_width());

  const Interval itself =
      *paired_difference({fast.plain, fast.time}, {fast.plain, fast.time}, 1 - p_value_bound);
  CHECK(itself.estimate == 0);
  CHECK_FALSE(itself.bounded());  // equal batches tell nothing about others
  Sums turned = fast;
  std::rotate(turned.plain.begin(), turned.plain.begin() + 1, turned.plain.end());
  std::rotate(turned.time.begin(), turned.time.begin() + 1, turned.time.end());
  const Interval unpaired =
      *paired_difference({fast.plain, fast.time}, {turned.plain, turned.time}, 1 - p_value_bound);
  CHECK(std::abs(unpaired.estimate) < 1e-12);
  CHECK(unpaired.half_width() > alone.half_width());
  const std::vector<double> zeros(fast.plain.size(), 0.0);
  CHECK_FALSE(paired_difference({fast.plain, zeros}, {fast.plain, fast.time}, 0.95).has_value());
}
