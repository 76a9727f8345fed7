// The experiment "beam": speculative beam search beside plain beam search (Leviathan et al. 2023, appendix
// A.4). Its metrics include
//     alpha_examined            accepted steps over examined steps
//     tokens_per_target_step    steps per target run: each extends every sequence of the beam by one token
//     speedup                   steps / (target runs + c * drafted steps); a run costs the same for any number
//                               of rows
//     target_rows               contexts that the target evaluates, over those of plain beam search; the
//                               formula is (w + u gamma) / (w * steps per run)
//     operations                the same with the draft's rows, c_hat each
//     identical_beams           the share of searches whose beam, scores included, equals plain beam search's
// The formulas use the measured acceptance rate and assume that steps are accepted independently.
#include <algorithm>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "analysis/theory/theorems.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "sim/beam_search.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

struct BeamSection {
  std::uint32_t width = 4;         ///< number of sequences that the target keeps
  std::uint32_t draft_width = 16;  ///< number of sequences that the draft keeps
  std::uint32_t length = 32;       ///< number of steps; each adds one token to every sequence
  BeamAcceptance acceptance = BeamAcceptance::contained;
};

/// The counts of one trial, without its beams.
struct Trial {
  Tally tally;
  std::uint64_t target_rows = 0;
  std::uint64_t draft_rows = 0;
  std::uint64_t plain_rows = 0;
  bool identical = false;
};

/// Returns the closed forms at acceptance rate `alpha` per step, for independent acceptances and full beams.
ByMetric<double> formulas_at(double alpha, const BeamSection& beam, int gamma, const CostRatios& cost) {
  const auto w = static_cast<double>(beam.width);
  const auto u = static_cast<double>(beam.draft_width);
  const double steps = expected_tokens(alpha, gamma);
  const double draft_rows = gamma == 0 ? 0 : w + u * (gamma - 1);
  const double target_rows = w + u * gamma;
  return {{Metric::accepted_per_target_step, steps - 1},
          {Metric::tokens_per_target_step, steps},
          {Metric::speedup, speedup(alpha, gamma, cost.c)},
          {Metric::operations, (target_rows + cost.c_hat * draft_rows) / (w * steps)},
          {Metric::memory_accesses, memory_accesses(alpha, gamma)},
          {Metric::target_rows, target_rows / (w * steps)}};
}

/// Returns the number of searches: one per trial, but one in all for a single prompt, with which all trials
/// are equal.
std::size_t searches(const SimulationSize& simulation) {
  return simulation.prompts.size() == 1 ? 1 : std::size_t{simulation.trials};
}

Trial run_trial(const Setup& setup, const BeamSection& beam, std::int32_t gamma, std::uint32_t trial) {
  const std::vector<Token>& prompt = setup.simulation.prompt(trial);
  const BeamSearch plain = plain_beam_search(setup.target, prompt, beam.width, beam.length);
  const BeamSearch search = speculative_beam_search(setup.target, setup.draft, prompt, beam.width,
                                                    beam.draft_width, gamma, beam.length, beam.acceptance);
  return {search.tally, search.target_rows, search.draft_rows, plain.target_rows, search.beam == plain.beam};
}

/// Runs the trials; returns them in order. Throws Stopped if interrupted before the last has ended.
std::vector<Trial> run_trials(const Setup& setup, const BeamSection& beam, std::int32_t gamma,
                              const Control& control) {
  std::vector<Trial> trials(searches(setup.simulation));
  for_each_index(trials.size(), [&](std::size_t index) {
    if (control.stop()) throw Stopped{};
    trials[index] = run_trial(setup, beam, gamma, static_cast<std::uint32_t>(index));
    control.progress(beam.length);
  });
  return trials;
}

void describe(const Config& config, const std::vector<Trial>& trials, CellResult& result, double confidence) {
  // Trials are independent: each starts from its own prompt.
  const Independence independence =
      trials.size() >= min_independent_trials ? Independence::batches : Independence::nothing;
  std::vector<Tally> tallies;
  Trial sum;
  std::uint64_t identical = 0;
  for (const Trial& trial : trials) {
    tallies.push_back(trial.tally);
    sum.tally += trial.tally;
    sum.target_rows += trial.target_rows;
    sum.draft_rows += trial.draft_rows;
    sum.plain_rows += trial.plain_rows;
    identical += trial.identical ? 1 : 0;
  }

  result.simulated = simulated_metrics(tallies, config.cost, confidence, independence, {EqualLength::tokens});
  const auto set = [&](Metric metric, const Interval& interval) {
    leave_out(result.simulated, metric);
    result.simulated.emplace_back(metric, interval);
  };
  const auto each = [&](const auto& number) {
    std::vector<double> all;
    for (const Trial& trial : trials) all.push_back(number(trial));
    return all;
  };
  const std::vector<double> plain_rows = each([](const Trial& trial) { return real(trial.plain_rows); });
  const auto set_over_plain_rows = [&](Metric metric, const std::vector<double>& rows) {
    // The ratios are unbounded: if most trials are alike, nothing bounds the others.
    const auto interval = *ratio_interval(rows, plain_rows, confidence);
    set(metric,
        *known_bounds(varies({rows, plain_rows}) ? interval : unbounded(interval.estimate), independence));
  };
  set(Metric::accepted_per_target_step,
      *known_bounds(
          bounded_ratio_interval(each([](const Trial& trial) { return real(trial.tally.accepted); }),
                                 each([](const Trial& trial) { return real(trial.tally.rounds); }),
                                 {0, static_cast<double>(config.gamma)}, confidence),
          independence));
  set_over_plain_rows(Metric::target_rows, each([](const Trial& trial) { return real(trial.target_rows); }));
  set_over_plain_rows(Metric::operations, each([&](const Trial& trial) {
                        return real(trial.target_rows) + config.cost.c_hat * real(trial.draft_rows);
                      }));
  set(Metric::identical_beams, *binomial_interval(identical, trials.size(), confidence));
  std::ranges::sort(result.simulated, [](const auto& a, const auto& b) { return a.first < b.first; });

  const Interval* alpha = find(result.simulated, Metric::alpha_examined);
  result.formula_alpha = AlphaSource::measured;
  result.formula = formulas_at(alpha != nullptr ? std::clamp(alpha->estimate, 0.0, 1.0) : 0,
                               config.section<BeamSection>(), config.gamma, config.cost);
  Counts& counts = result.counts = counts_of(sum.tally);
  counts.searches = trials.size();
  counts.identical = identical;
  counts.target_rows = sum.target_rows;
  counts.draft_rows = sum.draft_rows;
  counts.plain_rows = sum.plain_rows;
  result.positions = acceptance_by_position(tallies, config.gamma, confidence, independence);
}

void check_beam(const Config& config) {
  check_setup(config);
  const auto& beam = config.section<BeamSection>();
  if (beam.draft_width < beam.width) {
    throw ConfigError("/beam/draft_width",
                      "{} is below the width {}: a draft beam that holds the target's is at least as wide",
                      beam.draft_width, beam.width);
  }
}

Work prepare_beam(const CellSpec& cell, JobList& jobs) {
  const auto& beam = cell.config.section<BeamSection>();
  const auto setup = jobs.setup(cell.config);
  const auto finish = [&config = cell.config, &beam, setup](CellResult& result, const RunContext& context) {
    describe(config, run_trials(*setup, beam, config.gamma, context.control), result, context.confidence);
  };
  return {.finish = finish, .own_steps = searches(setup->simulation) * std::uint64_t{beam.length}};
}

}  // namespace

SectionKind beam_section() {
  using B = BeamSection;
  return {
      "beam",
      object<B>(
          "beam", "The searches of the experiment beam: one for each trial, from the prompt of that trial.",
          {integer_field("width", &B::width, 1, 256, "Sequences that the target keeps at each step."),
           integer_field("draft_width", &B::draft_width, 1, 1024,
                         "Sequences that the draft keeps at each step; at least \"width\"."),
           integer_field("length", &B::length, 1, 100000, "Steps, one token for every sequence."),
           field(
               "acceptance", &B::acceptance,
               choice<BeamAcceptance>({{"contained", BeamAcceptance::contained},
                                       {"fault_best_contained", BeamAcceptance::fault_best_contained}}),
               "The rule that accepts a step: \"contained\" is that of appendix A.4, the other one a planted fault.")})
          .type};
}

const Experiment& beam_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "beam",
      .sentence =
          "Speculative beam search (A.4) beside plain beam search: the same beams, fewer target runs.",
      .sections = {"beam"},
      .reads = {"corpus", "models", "gamma", "cost", "simulation/trials", "simulation/prompt",
                "simulation/prompt_tokens", "metrics", "figures", "measured_note"},
      .check = check_beam,
      .prepare = prepare_beam,
      .presentation = presented({.metrics = {.shown = {accepted_per_target_step, tokens_per_target_step,
                                                       speedup, target_rows, identical_beams}}})};
  return experiment;
}

}  // namespace speclab
