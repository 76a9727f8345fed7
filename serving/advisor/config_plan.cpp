#include "serving/advisor/config_plan.hpp"

#include <algorithm>

#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/until.hpp"

namespace speclab {

namespace {

constexpr int min_measured_gamma = 8;

/// Returns the config without a sweep over gamma and without parts that only affect what is shown.
Config without_gamma_axis(Config config) {
  if (!config.sweep) return config;
  std::erase_if(*config.sweep, [](const auto& axis) { return axis.first == "/gamma"; });
  if (config.sweep->empty()) config.sweep.reset();
  return config;
}

std::optional<double> stated_alpha(const Config& config) {
  const std::string& experiment = config.experiment->name;
  if (experiment != "predict" && experiment != "iid") return std::nullopt;
  if (!config.alpha) throw ConfigError("/alpha", "missing; a plan needs an acceptance rate");
  return config.alpha;
}

/// Throws ConfigError unless the rule decides position by position. Only then does acceptance at a position,
/// measured with one gamma, hold for another.
void require_positions(const AnyRule& rule) {
  if (rule->decides_by_position()) return;
  throw ConfigError(
      "/rule/kind",
      "a plan needs a rule of one draft that decides position by position, such as \"token\"; compare others with experiment \"rules\"");
}

AcceptanceFile totals_of(const Tally& tally) {
  std::vector<std::uint64_t> accepted;
  std::uint64_t reached = tally.rounds;
  for (std::size_t length = 0; length + 1 < tally.accepted_lengths.size(); ++length) {
    reached -= tally.accepted_lengths[length];
    accepted.push_back(reached);
  }
  // If no round accepted all its drafted tokens, the last position was examined but never accepted.
  const auto gamma = static_cast<std::size_t>(tally.rounds == 0 ? 0 : tally.drafted / tally.rounds);
  if (accepted.size() < gamma) accepted.push_back(0);
  return {{}, count_positions(tally.rounds, accepted)};
}

Acceptance measured(const Job& job, double confidence) {
  Acceptance found;
  found.from = "simulation";
  const ByMetric<Interval> metrics =
      simulated_metrics(job.outcome.batches, {}, confidence, independence_of_rounds(job));
  if (const Interval* alpha = find(metrics, Metric::alpha_examined)) found.alpha = *alpha;
  found.alpha.low = std::clamp(found.alpha.low, 0.0, 1.0);
  found.alpha.high = std::clamp(found.alpha.high, 0.0, 1.0);
  found.log = totals_of(job.outcome.total());
  return found;
}

}  // namespace

std::optional<ConfigCase> config_case(const Config& whole, double confidence, const Control& control) {
  Config config = without_gamma_axis(whole);
  refuse_many_cells(config, "plan config takes");
  refuse_until(config, "plan simulates a fixed number of trials");
  ConfigCase found{{}, config.cost.c};
  if (const auto alpha = stated_alpha(config)) {
    found.acceptance = {{*alpha, *alpha, *alpha}, "given"};
    return found;
  }
  check_setup(config);
  check_fast_engine(config);
  require_every_gamma(config.rule, "a plan");
  require_positions(make_rule(config.rule, 1).sampled);
  // A plan decodes, while for a recording the experiment acceptance would make models that cannot.
  config.experiment = find_experiment("decode");
  JobList jobs;
  const auto setup = jobs.setup(config);
  if (setup->exact_alpha) {
    const double exact = std::clamp(*setup->exact_alpha, 0.0, 1.0);
    found.acceptance = {{exact, exact, exact}, "the models, exactly"};
    return found;
  }
  const Job& job = jobs.decode(setup, std::max(config.gamma, min_measured_gamma));
  jobs.run(control);
  if (!job.done || job.outcome.partial) return std::nullopt;
  found.acceptance = measured(job, confidence);
  return found;
}

}  // namespace speclab
