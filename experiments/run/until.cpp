#include "experiments/run/until.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/statistics/multiple_tests.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/run/jobs.hpp"
#include "experiments/run/result.hpp"
#include "experiments/run/setup.hpp"
#include "sim/doubling.hpp"

namespace speclab {

namespace {

/// Returns true if the wanted interval is narrow enough. Width 0 counts only for overlaps, which are
/// computed: for others it means that all batches are alike, not that the error is 0.
bool is_precise(const Job& job) {
  const auto& [until, cost] = *job.wanted;
  for (const Estimate& one : estimates(job.outcome.batches, cost, job.precision->confidence,
                                       independence_of_rounds(job), limits_of(job))) {
    if (one.name != metric_name(until.metric) || !one.interval) continue;
    const bool known =
        until.metric == Metric::alpha_overlap ? one.interval->bounded() : one.interval->judges();
    const double unit = until.relative ? std::abs(one.interval->estimate) : 1;
    return known && one.interval->half_width() <= until.half_width * unit;
  }
  return false;
}

void require_until(const Job& job, const std::string& experiment) {
  using enum Metric;
  std::vector<Metric> known{alpha_overlap};
  if (decodes(job))
    known.insert(known.end(), {alpha_examined, alpha_drafted, tokens_per_target_step, tokens_variance,
                               speedup, operations, memory_accesses});
  const UntilConfig& until = job.wanted.value().until;
  if (std::find(known.begin(), known.end(), until.metric) == known.end()) {
    std::vector<std::string> names;
    for (const Metric one : known) names.push_back(metric_name(one));
    throw ConfigError("/simulation/until/metric", "\"{}\" has no interval in \"{}\"; choose {}",
                      metric_name(until.metric), experiment, fmt::join(names, ", "));
  }
  if (job.simulation.prompts.size() > 1) {
    throw ConfigError(
        "/simulation/until",
        "cannot be used with recorded texts or \"prompt_tokens\", whose number is fixed; give \"trials\" alone");
  }
  const std::uint32_t least = job.kind == JobKind::independent_acceptances ? 2 : min_independent_trials;
  if (job.simulation.trials < least) {
    throw ConfigError("/simulation/trials",
                      "{} is too few for an interval; \"until\" begins with at least {}",
                      job.simulation.trials, least);
  }
  const std::uint64_t rounds = doubling_size(job.simulation).total();
  if (rounds <= until.max_rounds) return;
  throw ConfigError(
      "/simulation/until/max_rounds",
      "{} is less than the {} rounds before the first look; give more, or begin with fewer sequences",
      until.max_rounds, rounds);
}

}  // namespace

std::optional<WantedInterval> wanted_interval(const ConfigReader& config) {
  const std::optional<UntilConfig>& until = config[&Config::simulation].until;
  if (!until) return std::nullopt;
  return WantedInterval{*until, config[&Config::cost]};
}

void check_until(const Config& cell, JobKind kind) {
  if (!cell.simulation.until) return;
  Job job{.kind = kind, .simulation = simulation_size(cell), .wanted = wanted_interval(cell)};
  job.simulation.prompts.resize(cell.simulation.prompt_tokens > 0 ? 2 : 1);
  require_until(job, cell.experiment->name);
  if (cell.simulation.until->metric != Metric::alpha_overlap) return;
  const RuleConfig& rule = cell.rule;
  // A rule with measured parameters drafts a tree, for which no rate in a context exists.
  if (!rule.entry().measure && make_rule(rule, [&] { return cell.gamma; }).sampled->has_acceptance_rate())
    return;
  throw ConfigError(
      "/simulation/until/metric",
      "\"alpha_overlap\" is unknown for \"{}\", which has no acceptance rate in a context; take \"alpha_examined\"",
      rule.name());
}

void run_until(Job& job, const std::string& experiment, double confidence) {
  if (job.precision) return;  // already set for another cell
  require_until(job, experiment);
  const UntilConfig& until = job.wanted.value().until;
  job.simulation = doubling_size(job.simulation);
  const std::uint64_t max_by_trials = (std::uint64_t{1} << 32U) * job.simulation.length - 1;
  const int looks = looks_at_doublings(job.simulation.total(), std::min(until.max_rounds, max_by_trials));
  job.precision = {looks, look_confidence(confidence, looks)};
}

void look_until_precise(Job& job, const std::function<Outcome()>& run) {
  job.outcome = run();
  for (job.looks = 1; !job.outcome.partial; ++job.looks) {
    job.precise = is_precise(job);
    if (job.precise || job.looks == job.precision->max_looks) break;
    const Outcome first = std::move(job.outcome);
    job.simulation = second_half_of_double(job.simulation);
    job.outcome = run();
    add_first_half(first, job.outcome);
  }
  job.simulation.only = {};
}

void refuse_until(const Config& config, const std::string& what) {
  if (!config.simulation.until) return;
  throw ConfigError("/simulation/until", "{}; leave this out with --set simulation.until=null", what);
}

}  // namespace speclab
