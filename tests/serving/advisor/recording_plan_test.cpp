// Tests plans from recordings: their numbers, refusals, and warnings about texts that the target did not
// generate.
#include "serving/advisor/recording_plan.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "analysis/recorded/recording_estimates.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/base/format/config_error.hpp"
#include "sim/any_rule.hpp"
#include "tests/analysis/recorded/recorded_chain.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

const ChainRows target = random_chain(30, 2, 1);
const ChainRows draft = noisy(at_temperature(target, 1.4), 0.4, 2);

RecordingPlan plan_of(Recording recording, double c = 0.05, const RecordingRule& rule = {}) {
  const PlannedPair pair{.costs = {ConstantCost{1}, ConstantCost{c}}, .cost_from = "given"};
  return plan_recording({std::move(recording), "csv"}, "file", rule, pair, {});
}

bool fits(const RecordingPlan& plan) { return plan.warnings.empty(); }

}  // namespace

TEST_CASE("a plan of coins of one probability is that of the formula") {
  Recording recording;
  recording.target.assign(20000, std::log(0.5));
  recording.draft.assign(1, std::vector<double>(20000, std::log(0.4)));
  for (std::size_t i = 0; i < 20; ++i) recording.sequences.push_back({std::to_string(i), "", 1000 * i, 1000});
  const RecordingPlan plan = plan_of(recording);
  CHECK(plan.alpha == doctest::Approx(0.8));
  CHECK(plan.optimal_gamma == plan.formula_gamma);
  REQUIRE(plan.tokens_per_target_step.size() == 64);
  for (int gamma = 1; gamma <= 16; ++gamma) {
    const RecordedGamma& row = plan.gammas[static_cast<std::size_t>(gamma) - 1];
    CHECK(*row.tokens_per_whole_round == doctest::Approx(expected_tokens(0.8, gamma)).epsilon(1e-9));
    CHECK(plan.tokens_per_target_step[static_cast<std::size_t>(gamma) - 1] ==
          doctest::Approx(expected_tokens(0.8, gamma)).epsilon(0.005));
  }
}

TEST_CASE("short sequences: the plan says what texts without an end would give") {
  const std::string cut =
      terminal(recording_plan_text(plan_of(recorded_chain(target, target, draft, 500, 20, 3))));
  CHECK(cut.find("in texts without an end") != std::string::npos);
  const std::string whole =
      terminal(recording_plan_text(plan_of(recorded_chain(target, target, draft, 20, 500, 3))));
  CHECK(whole.find("in texts without an end") == std::string::npos);
}

TEST_CASE("a text of the column's law fits") {
  const RecordingPlan plan = plan_of(recorded_chain(target, target, draft, 20, 500, 3));
  CHECK(fits(plan));
  CHECK(*plan.alpha_low < plan.alpha);
  CHECK(plan.positions.size() == static_cast<std::size_t>(*plan.optimal_gamma));
  CHECK(plan.sequence_findings.size() == 20);
  CHECK(plan.warnings.empty());
}

TEST_CASE("intervals over few sequences say how seldom they hold where sequences are skewed") {
  // A tenth of the sequences keep .3 of their tokens and the others .8, with a deviation of .03 each. Null:
  // 95% intervals hold as often as the note says, within .05, which is four standard errors. Power: intervals
  // that hold .95 of the time are rejected.
  std::mt19937_64 random(test_seed(55));
  std::normal_distribution<double> deviation(0, 0.03);
  std::uniform_real_distribution<double> uniform;
  const auto drawn = [&](std::size_t sequences) {
    constexpr std::size_t tokens = 40;
    Recording recording;
    recording.target.assign(sequences * tokens, std::log(0.5));
    recording.draft.resize(1);
    for (std::size_t i = 0; i < sequences; ++i) {
      const double keep = (uniform(random) < 0.1 ? 0.3 : 0.8) + deviation(random);
      recording.draft[0].insert(recording.draft[0].end(), tokens, std::log(0.5 * std::min(keep, 1.0)));
      recording.sequences.push_back({std::to_string(i), "", tokens * i, tokens});
    }
    return recording;
  };
  const auto covered = [&](std::size_t sequences) {
    constexpr int repeats = 2000;
    int holds = 0;
    for (int i = 0; i < repeats; ++i) {
      const Recording recording = drawn(sequences);
      const Interval alpha = recorded_alpha(recording, recording.sequences, 0.95);
      holds += alpha.low <= 0.75 && 0.75 <= alpha.high ? 1 : 0;
    }
    return static_cast<double>(holds) / repeats;
  };
  CHECK(std::abs(covered(8) - 0.58) < 0.05);
  CHECK(std::abs(covered(20) - 0.88) < 0.05);
  CHECK(covered(64) > 0.9);
  const RecordingPlan few = plan_of(drawn(20));
  REQUIRE(few.interval_note.has_value());
  CHECK(few.interval_note->starts_with("over 20 sequences"));
  CHECK(terminal(recording_plan_text(few)).find(*few.interval_note) != std::string::npos);
  CHECK_FALSE(plan_of(drawn(32)).interval_note.has_value());
}

// Wrong uses.

TEST_CASE("wrong use 1: a text that is not of the column's law is flagged") {
  for (const double temperature : {0.7, 1.4}) {
    const ChainRows text = at_temperature(target, temperature);
    const RecordingPlan plan = plan_of(recorded_chain(text, target, draft, 20, 500, 3));
    CHECK_FALSE(fits(plan));
    REQUIRE_FALSE(plan.warnings.empty());
    CHECK(plan.warnings.front().starts_with("The mean of q/p"));
  }
  Recording given = recorded_chain(target, target, draft, 20, 500, 3, true);
  given.drawn = false;
  const RecordingPlan plan = plan_of(given);
  CHECK(plan.tokens_per_target_step.empty());
  CHECK_FALSE(plan.optimal_gamma.has_value());
  CHECK(plan.alpha > 0.5);
}

TEST_CASE(
    "wrong use 2: rules whose rounds do not follow from two columns are refused, or give their rate alone") {
  CHECK_THROWS_AS(recording_rule("recursive", false), UsageError);
  CHECK_THROWS_AS(recording_rule("lenient", false), UsageError);
  CHECK_THROWS_AS(recording_rule("nonsense", false), UsageError);
  CHECK_THROWS_AS(rate_rule("tree"), UsageError);
  const RecordingRule typical = recording_rule("typical", true);
  CHECK_FALSE(typical.rounds.has_value());
  const RecordingPlan plan = plan_of(recorded_chain(target, target, draft, 20, 500, 3, true), 0.05, typical);
  CHECK(plan.tokens_per_target_step.empty());
  CHECK(plan.warnings.size() == 1);
}

TEST_CASE("wrong use 3: columns by depth are used by depth, and no γ beyond them is planned") {
  Recording heads = recorded_chain(target, target, draft, 20, 500, 3);
  heads.draft.push_back(heads.draft[0]);
  for (double& value : heads.draft[1]) value -= 1;
  const RecordingPlan plan = plan_of(heads);
  CHECK(plan.tokens_per_target_step.size() == 2);
  heads.draft.resize(1);
  // Applying the first depth's column at every depth gives too many tokens.
  CHECK(plan_of(heads).tokens_per_target_step[1] > plan.tokens_per_target_step[1] + 0.1);
}

TEST_CASE("tasks have their own acceptance") {
  Recording recording = recorded_chain(target, target, draft, 20, 200, 3);
  const Recording other = recorded_chain(target, target, target, 10, 200, 4);
  for (RecordedSequence& one : recording.sequences) one.task = "a";
  for (RecordedSequence one : other.sequences) {
    one.first += 20 * 200;
    one.task = "b";
    recording.sequences.push_back(one);
  }
  recording.target.insert(recording.target.end(), other.target.begin(), other.target.end());
  recording.draft[0].insert(recording.draft[0].end(), other.draft[0].begin(), other.draft[0].end());
  const RecordingPlan plan = plan_of(recording);
  REQUIRE(plan.tasks.size() == 2);
  CHECK(plan.tasks[1].alpha.estimate == doctest::Approx(1));
  CHECK(plan.tasks[0].alpha.estimate < 0.9);
  CHECK(*plan.tasks[1].tokens_per_target_step > *plan.tasks[0].tokens_per_target_step);
}
