// The experiments that simulate decoding and compare it with the closed forms: decode, acceptance, iid.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/studies/decode/formulas.hpp"

namespace speclab {

namespace {

/// Metrics whose interval is compared with the formula if alpha is exact. Those after tokens_variance are
/// functions of tokens per target step.
constexpr std::array compared{Metric::alpha_examined,  Metric::tokens_per_target_step,
                              Metric::tokens_variance, Metric::speedup,
                              Metric::operations,      Metric::memory_accesses};

void add_agreement(CellResult& result) {
  for (const Metric metric : compared) {
    const Interval* simulated = find(result.simulated, metric);
    const double* formula = find(result.formula, metric);
    if (simulated == nullptr || formula == nullptr || !simulated->judges()) continue;
    result.agreement.emplace_back(metric_name(metric), simulated->holds(*formula));
  }
}

bool same(const RuleConfig& a, const RuleConfig& b) {
  Json first;
  Json second;
  write(kind_of(rule_family()), a, first);
  write(kind_of(rule_family()), b, second);
  return first == second;
}

void describe(const CellSpec& cell, const Job& job, const std::optional<double>& exact_alpha,
              CellResult& result, double confidence) {
  const Config& config = cell.config;
  const std::vector<Tally>& batches = job.outcome.batches;
  const Independence independence = independence_of_rounds(job);
  result.simulated = simulated_metrics(batches, config.cost, confidence, independence, limits_of(job));
  if (job.setup && !job.setup->rule.sampled->has_acceptance_rate())
    leave_out(result.simulated, Metric::alpha_overlap);
  const std::optional<Interval> overlap = value_of(result.simulated, Metric::alpha_overlap);
  if (exact_alpha || overlap) {
    const double alpha = std::clamp(exact_alpha ? *exact_alpha : overlap->estimate, 0.0, 1.0);
    add_formulas(result, cell, {alpha, config.gamma, config.cost},
                 exact_alpha ? AlphaSource::exact : AlphaSource::measured);
  }
  result.exact_alpha = exact_alpha;
  // Parameters measured to choose a tree belong to the result.
  if (job.setup && !same(job.setup->rule_config, config.rule)) result.rule = job.setup->rule_config;
  const Tally total = job.outcome.total();
  if (job.kind == JobKind::acceptance) {
    result.counts.contexts = total.overlap_contexts;
    return;
  }
  result.engine = engine_result(job);
  if (exact_alpha) add_agreement(result);
  result.counts = counts_of(total);
  result.positions = acceptance_by_position(batches, config.gamma, confidence, independence);
}

Work simulated(const CellSpec& cell, Job& job, const std::optional<double>& exact_alpha) {
  return {.jobs = {&job},
          .finish = [&cell, &job, exact_alpha](CellResult& result, const RunContext& context) {
            describe(cell, job, exact_alpha, result, context.confidence);
          }};
}

Work prepare_decode(const CellSpec& cell, JobList& jobs) {
  const auto setup = jobs.setup(cell.config);
  return simulated(cell, jobs.decode(setup, cell.config.gamma), setup->exact_alpha);
}

Work prepare_acceptance(const CellSpec& cell, JobList& jobs) {
  const auto setup = jobs.setup(cell.config);
  return simulated(cell, jobs.acceptance(setup), setup->exact_alpha);
}

Work prepare_iid(const CellSpec& cell, JobList& jobs) {
  const std::optional<double> alpha = cell.config.alpha;
  if (!alpha) throw ConfigError("/alpha", "missing; iid needs an acceptance rate");
  return simulated(cell, jobs.independent_acceptances(cell.config, *alpha), alpha);
}

/// Checks a cell of an experiment with models whose cells have one job of this kind.
template <JobKind kind>
void check_simulated(const Config& cell) {
  check_setup(cell);
  if (kind == JobKind::decode) check_fast_engine(cell);
  check_until(cell, kind);
}

}  // namespace

const Experiment& decode_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "decode",
      .sentence = "Speculative decoding beside the closed forms.",
      .reads = {"corpus", "models", "sampling", "rule", "engine", "gamma", "cost", "simulation", "metrics",
                "figures", "input_rounding", "measured_note"},
      .check = check_simulated<JobKind::decode>,
      .prepare = prepare_decode,
      .recordings = Recordings::decoding,
      .judges_printed = true,
      .not_of_jobs = {"cost", "input_rounding"},
      .presentation =
          presented({.metrics = {.shown = {alpha_overlap, tokens_per_target_step, speedup, operations}}})};
  return experiment;
}

const Experiment& acceptance_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "acceptance",
      .sentence = "The acceptance rate α over text that the target generates (section 4.2).",
      .reads = {"corpus", "models", "sampling", "rule", "gamma", "cost", "simulation", "metrics", "figures",
                "input_rounding", "measured_note"},
      .check = check_simulated<JobKind::acceptance>,
      .prepare = prepare_acceptance,
      .recordings = Recordings::rates_alone,
      .judges_printed = true,
      .not_of_jobs = {"cost", "input_rounding"},
      .presentation = presented({.metrics = {.shown = {alpha_overlap}, .figure = alpha_overlap}})};
  return experiment;
}

const Experiment& iid_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "iid",
      .sentence = "Rounds with independent acceptances of probability α, without models.",
      .reads = {"alpha", "gamma", "cost", "simulation/trials", "simulation/length", "simulation/batches",
                "simulation/until", "metrics", "figures", "input_rounding", "measured_note"},
      .prepare = prepare_iid,
      .judges_printed = true,
      .presentation =
          presented({.metrics = {.shown = {alpha_examined, tokens_per_target_step, speedup, operations}}})};
  return experiment;
}

}  // namespace speclab
