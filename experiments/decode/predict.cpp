// Closed forms without a simulation.
#include "experiments/config/config_error.hpp"
#include "experiments/decode/formulas.hpp"

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

class Predict final : public Experiment {
 public:
  Predict() : Experiment("predict", "Closed forms only, from \"alpha\", \"gamma\" and \"cost\".") {}
  std::unique_ptr<PreparedCell> prepare(const CellSpec& cell, JobList&) const override {
    if (!cell.config.alpha) throw ConfigError("/alpha", "missing; predict needs an acceptance rate");
    return std::make_unique<PredictionCell>(cell);
  }
  std::vector<Metric> shown_metrics() const override {
    using enum Metric;
    return {tokens_per_target_step, speedup, operations, optimal_gamma};
  }
};

}  // namespace

const Experiment& predict_experiment() {
  static const Predict experiment;
  return experiment;
}

}  // namespace speclab
