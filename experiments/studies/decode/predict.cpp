// Closed forms without a simulation.
#include "experiments/format/config_error.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/studies/decode/formulas.hpp"

namespace speclab {

namespace {

class PredictionCell final : public PreparedCell {
 public:
  explicit PredictionCell(const CellSpec& cell) : cell_(cell) {}
  void run(CellResult& result, const RunContext&) override {
    const Config& config = cell_.config;
    add_formulas(result, cell_, {*config.alpha, config.gamma, config.cost}, AlphaSource::given);
  }

 private:
  const CellSpec& cell_;
};

std::unique_ptr<PreparedCell> prepare_prediction(const CellSpec& cell, JobList&) {
  if (!cell.config.alpha) throw ConfigError("/alpha", "missing; predict needs an acceptance rate");
  return std::make_unique<PredictionCell>(cell);
}

}  // namespace

const Experiment& predict_experiment() {
  using enum Metric;
  static const Experiment experiment{
      .name = "predict",
      .sentence = "Closed forms only, from \"alpha\", \"gamma\" and \"cost\".",
      .prepare = prepare_prediction,
      .presentation =
          presented({.metrics = {.shown = {tokens_per_target_step, speedup, operations, optimal_gamma}}})};
  return experiment;
}

}  // namespace speclab
