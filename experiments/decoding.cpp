#include "experiments/decoding.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "analysis/theory/optimal_gamma.hpp"
#include "experiments/interval_json.hpp"
#include "experiments/metrics.hpp"

namespace speclab {

namespace {

/// Metrics whose simulated interval is compared with the formula when alpha is exact. speed, operations and
/// memory accesses are functions of tokens per round, so that all six count as three comparisons.
constexpr std::array judged{"alpha_examined", "tokens_per_round", "tokens_variance",
                            "speed",          "operations",       "memory_accesses"};

void add_formulas(Json& out, const FormulaInputs& inputs, const char* alpha_from) {
  out["formula_alpha"] = alpha_from;
  Json& table = out["formula"] = Json::object();
  // A measured alpha is not a formula's value of itself.
  const bool measured = std::string_view(alpha_from) == "measured";
  for (const auto& [name, value] : formulas(inputs)) {
    if (!(measured && name.starts_with("alpha"))) table[name] = value;
  }
}

void add_verdicts(Json& out, const CellSpec& spec, const FormulaInputs& inputs) {
  if (spec.printed.empty()) return;
  double alpha_rounding = 0;
  double c_rounding = 0;
  if (spec.config.contains("input_rounding")) {
    alpha_rounding = spec.config.at("input_rounding").at("alpha").get<double>();
    c_rounding = spec.config.at("input_rounding").at("c").get<double>();
  }
  Json& verdicts = out["verdict"] = Json::object();
  for (const auto& [metric, printed] : spec.printed.items()) {
    verdicts[metric] =
        words(judge_printed(inputs, metric, printed.get<std::string>(), alpha_rounding, c_rounding));
  }
}

/// How decoding ran, and what it took: counts of work, which are the same on every machine.
Json engine_json(const Job& job) {
  Json engine = Json{{"name", job.engine}};
  if (job.engine == std::string_view("plain")) return engine;
  const FastWork& work = job.outcome.work;
  engine["random_blocks"] = work.blocks;
  if (job.engine == std::string_view("quick")) engine["residual_passes"] = work.passes;
  return engine;
}

}  // namespace

CostRatios cost_of(const Json& config) {
  return {config.at("cost").at("c").get<double>(), config.at("cost").at("c_hat").get<double>()};
}

void describe_prediction(Json& out, const CellSpec& spec) {
  const CostRatios cost = cost_of(spec.config);
  const FormulaInputs inputs{spec.config.at("alpha").get<double>(), spec.config.at("gamma").get<int>(),
                             cost.c, cost.c_hat};
  add_formulas(out, inputs, "given");
  add_verdicts(out, spec, inputs);
}

void describe_decoding(Json& out, const CellSpec& spec, const Job& job, double confidence) {
  const Json& config = spec.config;
  const Setup* setup = job.setup.get();
  const CostRatios cost = cost_of(config);
  const Tally total = job.outcome.total();
  FormulaInputs inputs{0, config.at("gamma").get<int>(), cost.c, cost.c_hat};
  Json simulated = Json::object();
  for (const Estimate& estimate : estimates(job.outcome.batches, cost, confidence)) {
    if (!estimate.interval) continue;
    simulated[estimate.name] = interval_json(*estimate.interval);
    if (estimate.name == "alpha_overlap") inputs.alpha = std::clamp(estimate.interval->estimate, 0.0, 1.0);
  }
  const std::optional<double> exact = setup != nullptr ? setup->exact_alpha : job.iid_alpha;
  if (exact) inputs.alpha = std::clamp(*exact, 0.0, 1.0);
  add_formulas(out, inputs, exact ? "exact" : "measured");
  if (exact) out["exact_alpha"] = *exact;
  out["simulated"] = simulated;
  // What was measured to choose a tree belongs to the result.
  if (setup != nullptr && setup->verifier != config.at("verifier")) out["verifier"] = setup->verifier;
  if (!job.acceptance) out["engine"] = engine_json(job);
  if (job.acceptance) {
    out["counts"] = Json{{"contexts", total.overlap_contexts}};
    add_verdicts(out, spec, inputs);
    return;
  }
  if (exact) {
    Json& agreement = out["agreement"] = Json::object();
    for (const char* metric : judged) {
      if (!simulated.contains(metric) || !out["formula"].contains(metric)) continue;
      const double value = out["formula"][metric].get<double>();
      agreement[metric] =
          simulated[metric][1].get<double>() <= value && value <= simulated[metric][2].get<double>();
    }
  }
  add_verdicts(out, spec, inputs);
  out["counts"] = Json{{"rounds", total.rounds},
                       {"drafted", total.drafted},
                       {"examined", total.examined},
                       {"accepted", total.accepted},
                       {"emitted", total.emitted}};
  out["positions"] = positions_json(job.outcome.batches, inputs.gamma, confidence);
}

void describe_optimum(Json& out, const CellSpec& spec, double alpha, const std::vector<Job*>& jobs,
                      double confidence) {
  const CostRatios cost = cost_of(spec.config);
  add_formulas(out, {alpha, spec.config.at("gamma").get<int>(), cost.c, cost.c_hat}, "exact");
  out["exact_alpha"] = alpha;

  // gamma = 0 is plain decoding: speed 1 by definition.
  std::vector<std::vector<double>> by_gamma{std::vector<double>(jobs.front()->outcome.batches.size(), 1.0)};
  std::vector<double> means{1.0};
  Json& curve = out["speed_by_gamma"] = Json::array({Json::array({1.0, 1.0, 1.0})});
  for (const Job* job : jobs) {
    std::vector<double>& speeds = by_gamma.emplace_back();
    for (const Tally& batch : job->outcome.batches) speeds.push_back(batch_speedup(batch, cost.c));
    const Interval interval = *mean_interval(speeds, confidence);
    means.push_back(interval.estimate);
    curve.push_back(interval_json(interval));
  }
  const auto best = static_cast<std::size_t>(std::max_element(means.begin(), means.end()) - means.begin());
  const OptimalGamma theory = optimal_gamma(alpha, cost.c);
  const std::size_t theory_gamma =
      theory.gamma ? std::min(static_cast<std::size_t>(*theory.gamma), means.size() - 1) : means.size() - 1;
  // Batch by batch: the batches of two gammas share random numbers, and pairing takes that into account.
  std::vector<double> differences;
  for (std::size_t batch = 0; batch < by_gamma[best].size(); ++batch) {
    differences.push_back(by_gamma[best][batch] - by_gamma[theory_gamma][batch]);
  }
  const Interval gap = *mean_interval(differences, confidence);
  const auto at = static_cast<double>(best);
  out["simulated"] = Json{{"optimal_gamma", Json::array({at, at, at})}, {"best_speed", curve[best]}};
  out["gap"] = interval_json(gap);
  out["agreement"] = Json{{"optimal_gamma", best == theory_gamma || (gap.low <= 0 && gap.high >= 0)}};
  out["capped"] = !theory.gamma || static_cast<std::size_t>(*theory.gamma) >= means.size();
}

}  // namespace speclab
