// Compares a pair simulated by the engine with values computed from its recording.
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/record_pair.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/recorded/expected_rounds.hpp"
#include "analysis/recorded/recording_estimates.hpp"
#include "experiments/recording/recording_file.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Json markov(int trials, int length) {
  return {{"title", "pair"},
          {"models",
           {{"target", {{"kind", "markov"}, {"vocab", 8}, {"seed", 1}}},
            {"draft",
             {{"kind", "mixture"},
              {"base", "target"},
              {"other", {{"kind", "markov"}, {"vocab", 8}, {"seed", 2}}},
              {"epsilon", 0.35}}}}},
          {"simulation", {{"trials", trials}, {"length", length}}}};
}

/// Returns simulated tokens per target step with their 95% interval.
Interval simulated_tokens(const Config& config, int gamma) {
  JobList jobs;
  const Job& job = jobs.decode(jobs.setup(config), gamma);
  jobs.run(Control{});
  const auto metrics = simulated_metrics(job.outcome.batches, {}, 0.95, Independence::batches);
  return *find(metrics, Metric::tokens_per_target_step);
}

std::vector<GammaRounds> rounds_of(const Recording& recording, RecordedRule rule = RecordedRule::token) {
  return expected_rounds(recording, sequence_stretches(recording), 16, rule);
}

/// Returns the distance between two estimates in standard errors, from the half-widths of their 95% intervals
/// over 64 batches.
double errors_apart(double one, double other, double half_one, double half_other) {
  constexpr double quantile = 1.998;  // Student's t, 63 degrees
  return std::abs(one - other) / std::hypot(half_one / quantile, half_other / quantile);
}

}  // namespace

TEST_CASE(
    "block efficiency of a recording is that of simulation, for gamma = 1 to 16, by token and block rules") {
  // Null: both are unbiased. Each of 32 comparisons exceeds 4.5 standard errors once in 30,000 (t, 63
  // degrees).
  Json json = markov(64, 2000);
  const Config config = read_config(json);
  ModelFactory factory;
  const RecordedTokens recorded = record_pair(build_setup(config, factory), 4000);
  for (const RecordedRule rule : {RecordedRule::token, RecordedRule::block}) {
    json["rule"] = {{"kind", rule == RecordedRule::token ? "token" : "block"}};
    const Config simulated = read_config(json);
    const IntervalUnits units = interval_units(recorded.recording.sequences);
    const auto all = rounds_of(recorded.recording, rule);
    for (const int gamma : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}) {
      const GammaRounds& one = all[static_cast<std::size_t>(gamma) - 1];
      const std::vector<double> tokens(64, 4000.0);
      const Interval over = unit_interval(units, tokens, one.rounds, {1, gamma + 1.0}, 0.95);
      const Interval run = simulated_tokens(simulated, gamma);
      CAPTURE(gamma);
      CHECK(errors_apart(one.whole_tokens / one.whole_rounds, run.estimate, over.half_width(),
                         run.half_width()) < 4.5);
    }
    // Power: block verification is distinguished from the token rule.
    const GammaRounds other = rounds_of(
        recorded.recording, rule == RecordedRule::token ? RecordedRule::block : RecordedRule::token)[7];
    const Interval run = simulated_tokens(simulated, 8);
    CHECK(errors_apart(other.whole_tokens / other.whole_rounds, run.estimate, run.half_width(),
                       run.half_width()) > 4.5);
  }
}

TEST_CASE("a recorded pair in a config decodes as its recording says") {
  const Config config = read_config(markov(64, 2000));
  ModelFactory factory;
  RecordedTokens recorded = record_pair(build_setup(config, factory), 4000);
  const TempFile file("");
  write_recording(recorded, file.path(), RecordingStyle::csv, false);
  Json json = markov(64, 2000);
  for (const char* side : {"target", "draft"}) {
    json["models"][side] = {{"kind", "recorded"}, {"file", file.path().string()}};
  }
  // The recording becomes one sequence, because decoding continues from each sequence to the next.
  recorded.recording.sequences = {{"", "", 0, recorded.recording.size()}};
  const auto all = rounds_of(recorded.recording);
  for (const int gamma : {1, 4, 8, 16}) {
    const GammaRounds& one = all[static_cast<std::size_t>(gamma) - 1];
    const Interval run = simulated_tokens(read_config(json), gamma);
    CAPTURE(gamma);
    CHECK(errors_apart(one.whole_tokens / one.whole_rounds, run.estimate, 0, run.half_width()) < 4.5);
  }
}

TEST_CASE("rates of rules from recorded rows are those that the engine measures in the target's contexts") {
  // Null: both are unbiased. Each of 5 comparisons exceeds 4.5 standard errors once in 30,000.
  Json json = markov(64, 2000);
  ModelFactory factory;
  const Config config = read_config(json);
  const Setup setup = build_setup(config, factory);
  const RecordedTokens recorded = record_pair(setup, 500);
  const TempFile file("");
  write_row_recording(setup, recorded, file.path());
  for (const char* name : {"token", "typical", "sigmoid", "match", "gumbel"}) {
    CAPTURE(name);
    json["rule"] = {{"kind", name}};
    const Config of_rule = read_config(json);
    JobList jobs;
    const Job& job = jobs.acceptance(jobs.setup(of_rule));
    jobs.run(Control{});
    const Interval run =
        *find(simulated_metrics(job.outcome.batches, {}, 0.95, Independence::batches), Metric::alpha_overlap);
    const AnyRule rule = make_rule(of_rule.rule, 1).sampled;
    const Recording rows = read_recording(file.path().string(), "", &rule).recording;
    const Interval of_rows = recorded_alpha(rows, rows.sequences, 0.95);
    CHECK(errors_apart(of_rows.estimate, run.estimate, of_rows.half_width(), run.half_width()) < 4.5);
  }
}
