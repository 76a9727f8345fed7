#include "experiments/beam_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "analysis/theory/theorems.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/interval_json.hpp"
#include "sim/beam_search.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

struct Settings {
  std::size_t width;
  std::size_t draft_width;
  std::int32_t gamma;
  std::uint32_t length;
  BeamAcceptance acceptance;
  CostRatios cost;
};

Settings settings_of(const Json& config) {
  const Json beam = section(config, "beam");
  return {.width = beam.at("width").get<std::size_t>(),
          .draft_width = beam.at("draft_width").get<std::size_t>(),
          .gamma = config.at("gamma").get<std::int32_t>(),
          .length = beam.at("length").get<std::uint32_t>(),
          .acceptance = beam.at("acceptance") == "contained" ? BeamAcceptance::contained
                                                             : BeamAcceptance::fault_best_contained,
          .cost = {config.at("cost").at("c").get<double>(), config.at("cost").at("c_hat").get<double>()}};
}

std::size_t searches(const Setup& setup) {
  return setup.plan.prompts.size() == 1 ? 1 : std::size_t{setup.plan.trials};
}

/// One trial: counts without the beams themselves.
struct Trial {
  Tally tally;
  double target_rows = 0;
  double draft_rows = 0;
  double plain_rows = 0;
  bool identical = false;
};

Trial run_trial(const Setup& setup, const Settings& with, std::uint32_t trial) {
  const std::vector<Token>& prompt = setup.plan.prompt(trial);
  const BeamSearch plain = plain_beam_search(setup.target, prompt, with.width, with.length);
  const BeamSearch search =
      speculative_beam_search(setup.target, setup.draft, prompt, with.width, with.draft_width, with.gamma,
                              with.length, with.acceptance);
  return {search.tally, static_cast<double>(search.target_rows), static_cast<double>(search.draft_rows),
          static_cast<double>(plain.target_rows), search.beam == plain.beam};
}

/// The trials in order; none when stopped before the last.
std::vector<Trial> run_trials(const Setup& setup, const Settings& with, const Control& control) {
  std::vector<Trial> trials(searches(setup));
  std::atomic<bool> stopped{false};
  for_each_index(trials.size(), [&](std::size_t index) {
    if (stopped || control.stop()) {
      stopped = true;
      return;
    }
    trials[index] = run_trial(setup, with, static_cast<std::uint32_t>(index));
    control.progress(with.length);
  });
  if (stopped) trials.clear();
  return trials;
}

/// Closed forms at acceptance `alpha` of a step, as if steps were accepted independently and beams were full.
Json formulas_at(double alpha, const Settings& with) {
  const auto w = static_cast<double>(with.width);
  const auto u = static_cast<double>(with.draft_width);
  const double steps = expected_tokens(alpha, with.gamma);
  const double draft_rows = with.gamma == 0 ? 0 : w + u * (with.gamma - 1);
  const double target_rows = w + u * with.gamma;
  return {{"accepted_per_round", steps - 1},
          {"tokens_per_round", steps},
          {"speed", speedup(alpha, with.gamma, with.cost.c)},
          {"target_rows", target_rows / (w * steps)},
          {"operations", (target_rows + with.cost.c_hat * draft_rows) / (w * steps)},
          {"memory_accesses", memory_accesses(alpha, with.gamma)}};
}

}  // namespace

void check_beam(const Json& config) {
  const Settings with = settings_of(config);
  if (with.draft_width < with.width) {
    throw ConfigError("/beam/draft_width",
                      fmt::format("{} is below the width {}: a draft beam that holds the target's is at "
                                  "least as wide",
                                  with.draft_width, with.width));
  }
  const Json& kind = config.at("verifier").at("kind");
  if (kind != "token") {
    throw ConfigError("/verifier/kind",
                      fmt::format("{} verifies sampled tokens; a beam search accepts steps by "
                                  "\"beam/acceptance\": leave the verifier out",
                                  shown(kind)));
  }
}

std::uint64_t beam_workload(const Setup& setup, const Json& config) {
  return searches(setup) * std::uint64_t{settings_of(config).length};
}

void describe_beams(Json& out, const Setup& setup, const Json& config, double confidence,
                    const Control& control) {
  const Settings with = settings_of(config);
  const std::vector<Trial> trials = run_trials(setup, with, control);
  if (trials.empty()) {
    out["partial"] = true;
    return;
  }
  // A trial is the unit of independence: each starts from a prompt of its own.
  std::vector<Tally> tallies;
  std::vector<double> accepted;
  std::vector<double> rounds;
  std::vector<double> target_rows;
  std::vector<double> weighted_rows;
  std::vector<double> plain_rows;
  Trial sum;
  std::uint64_t identical = 0;
  for (const Trial& trial : trials) {
    tallies.push_back(trial.tally);
    accepted.push_back(static_cast<double>(trial.tally.accepted));
    rounds.push_back(static_cast<double>(trial.tally.rounds));
    target_rows.push_back(trial.target_rows);
    weighted_rows.push_back(trial.target_rows + with.cost.c_hat * trial.draft_rows);
    plain_rows.push_back(trial.plain_rows);
    sum.tally += trial.tally;
    sum.target_rows += trial.target_rows;
    sum.draft_rows += trial.draft_rows;
    sum.plain_rows += trial.plain_rows;
    identical += trial.identical ? 1 : 0;
  }

  Json simulated = Json::object();
  double alpha = 0;
  for (const Estimate& estimate : estimates(tallies, with.cost, confidence)) {
    if (!estimate.interval) continue;
    simulated[estimate.name] = interval_json(*estimate.interval);
    if (estimate.name == "alpha_examined") alpha = estimate.interval->estimate;
  }
  const auto add_ratio = [&](const char* name, const std::vector<double>& above,
                             const std::vector<double>& below) {
    simulated[name] = interval_json(*ratio_interval(above, below, confidence));
  };
  add_ratio("accepted_per_round", accepted, rounds);
  add_ratio("target_rows", target_rows, plain_rows);
  add_ratio("operations", weighted_rows, plain_rows);
  const double share = static_cast<double>(identical) / static_cast<double>(trials.size());
  simulated["identical_beams"] = Json::array({share, share, share});

  out["formula_alpha"] = "measured";
  out["formula"] = formulas_at(std::clamp(alpha, 0.0, 1.0), with);
  out["simulated"] = simulated;
  out["counts"] =
      Json{{"searches", trials.size()},    {"identical", identical},         {"rounds", sum.tally.rounds},
           {"drafted", sum.tally.drafted}, {"examined", sum.tally.examined}, {"accepted", sum.tally.accepted},
           {"emitted", sum.tally.emitted}, {"target_rows", sum.target_rows}, {"draft_rows", sum.draft_rows},
           {"plain_rows", sum.plain_rows}};
  out["positions"] = positions_json(tallies, with.gamma, confidence);
}

}  // namespace speclab
