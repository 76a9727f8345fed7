// Experiments that simulate decoding and compare it with the closed forms: decode, acceptance, iid.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/format/config_error.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/studies/decode/formulas.hpp"

namespace speclab {

namespace {

/// Metrics whose simulated interval is compared with the formula when alpha is exact. Those after
/// tokens_variance are functions of tokens per target step.
constexpr std::array compared{Metric::alpha_examined,  Metric::tokens_per_target_step,
                              Metric::tokens_variance, Metric::speedup,
                              Metric::operations,      Metric::memory_accesses};

EngineResult engine_result(const Job& job) {
  EngineResult engine{.name = words(job.engine)};
  if (!job.why_plain.empty()) engine.why_plain = job.why_plain;
  if (job.engine == EngineUsed::plain) return engine;
  engine.random_blocks = job.outcome.work.blocks;
  if (job.engine == EngineUsed::fast) engine.residual_passes = job.outcome.work.passes;
  return engine;
}

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

/// What simulated decoding gave: one job per cell.
class DecodingCell final : public PreparedCell {
 public:
  DecodingCell(const CellSpec& cell, Job& job, std::optional<double> exact_alpha)
      : cell_(cell), job_(job), exact_alpha_(exact_alpha) {
    jobs.push_back(&job);
  }

  void run(CellResult& result, const RunContext& context) override {
    const Config& config = cell_.config;
    const std::vector<Tally>& batches = job_.outcome.batches;
    const Independence independence = independence_of_rounds(job_);
    result.simulated = simulated_metrics(batches, config.cost, context.confidence, independence);
    FormulaInputs inputs{0, config.gamma, config.cost};
    if (const Interval* overlap = find(result.simulated, Metric::alpha_overlap))
      inputs.alpha = std::clamp(overlap->estimate, 0.0, 1.0);
    if (exact_alpha_) inputs.alpha = std::clamp(*exact_alpha_, 0.0, 1.0);
    add_formulas(result, cell_, inputs, exact_alpha_ ? AlphaSource::exact : AlphaSource::measured);
    result.exact_alpha = exact_alpha_;
    // What was measured to choose a tree belongs to the result.
    if (job_.setup && !same(job_.setup->rule_config, config.rule)) result.rule = job_.setup->rule_config;
    const Tally total = job_.outcome.total();
    if (job_.kind == JobKind::acceptance) {
      result.counts.contexts = total.overlap_contexts;
      return;
    }
    result.engine = engine_result(job_);
    if (exact_alpha_) add_agreement(result);
    result.counts = counts_of(total);
    result.positions = position_results(batches, config.gamma, context.confidence, independence);
  }

 private:
  const CellSpec& cell_;
  Job& job_;
  std::optional<double> exact_alpha_;
};

std::unique_ptr<PreparedCell> prepare_decode(const CellSpec& cell, JobList& jobs) {
  const auto setup = jobs.setup(cell.config);
  return std::make_unique<DecodingCell>(cell, jobs.decode(setup, cell.config.gamma), setup->exact_alpha);
}

std::unique_ptr<PreparedCell> prepare_acceptance(const CellSpec& cell, JobList& jobs) {
  const auto setup = jobs.setup(cell.config);
  return std::make_unique<DecodingCell>(cell, jobs.acceptance(setup), setup->exact_alpha);
}

std::unique_ptr<PreparedCell> prepare_iid(const CellSpec& cell, JobList& jobs) {
  const std::optional<double> alpha = cell.config.alpha;
  if (!alpha) throw ConfigError("/alpha", "missing; iid needs an acceptance rate");
  return std::make_unique<DecodingCell>(cell, jobs.independent_acceptances(cell.config, *alpha), alpha);
}

Division division_of_rounds(const Config& cell) { return {simulation_size(cell).independent_cut().count()}; }

}  // namespace

const Experiment& decode_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "decode",
      .sentence = "Speculative decoding beside the closed forms.",
      .prepare = prepare_decode,
      .division = [](const Config& cell) { return division_of_decoding(cell); },
      .runs_on_gpu = true,
      .presentation =
          presented({.metrics = {.shown = {alpha_overlap, tokens_per_target_step, speedup, operations}}})};
  return experiment;
}

const Experiment& acceptance_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "acceptance",
      .sentence = "The acceptance rate α over text that the target generates (section 4.2).",
      .prepare = prepare_acceptance,
      .division = [](const Config& cell) { return division_of_decoding(cell); },
      .presentation = presented({.metrics = {.shown = {alpha_overlap}, .figure = alpha_overlap}})};
  return experiment;
}

const Experiment& iid_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "iid",
      .sentence = "Rounds with independent acceptances of probability α, without models.",
      .prepare = prepare_iid,
      .division = division_of_rounds,
      .runs_on_gpu = true,
      .presentation =
          presented({.metrics = {.shown = {alpha_examined, tokens_per_target_step, speedup, operations}}})};
  return experiment;
}

}  // namespace speclab
