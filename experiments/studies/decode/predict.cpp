// The experiment "predict": closed forms without a simulation.
#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/studies/decode/formulas.hpp"

namespace speclab {

namespace {

Work prepare_prediction(const CellSpec& cell, JobList&) {
  if (!cell.config.alpha) throw ConfigError("/alpha", "missing; predict needs an acceptance rate");
  return {.finish = [&cell](CellResult& result, const RunContext&) {
    const Config& config = cell.config;
    add_formulas(result, cell, {*config.alpha, config.gamma, config.cost}, AlphaSource::given);
  }};
}

}  // namespace

const Experiment& predict_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "predict",
      .sentence = "Closed forms only, from \"alpha\", \"gamma\" and \"cost\".",
      .reads = {"alpha", "gamma", "cost", "metrics", "figures", "input_rounding", "measured_note"},
      .prepare = prepare_prediction,
      .closed_forms = true,
      .judges_printed = true,
      .presentation =
          presented({.metrics = {.shown = {tokens_per_target_step, speedup, operations, optimal_gamma}}})};
  return experiment;
}

}  // namespace speclab
