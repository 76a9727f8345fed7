#include "experiments/run/until.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/statistics/looks.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/jobs.hpp"
#include "sim/doubling.hpp"

namespace speclab {

namespace {

bool is_precise(const Job& job) {
  const WantedPrecision& wanted = *job.precision;
  for (const Estimate& one :
       estimates(job.outcome.batches, wanted.cost, wanted.confidence, independence_of_rounds(job))) {
    if (one.name == metric_name(wanted.until.metric) && one.interval)
      return narrow_enough(*one.interval, wanted.until);
  }
  return false;
}

}  // namespace

WantedPrecision wanted_precision(const Config& cell, std::uint64_t first, std::uint64_t most,
                                 double confidence) {
  const int looks = looks_at_doublings(first, most);
  return {*cell.simulation.until, cell.cost, looks, look_confidence(confidence, looks)};
}

void require_first_look(const Config& cell, std::uint64_t rounds) {
  const std::uint64_t most = cell.simulation.until->most_rounds;
  if (rounds <= most) return;
  throw ConfigError("/simulation/until/most_rounds",
                    fmt::format("{} is less than the {} rounds before the first look; give more, or begin "
                                "with fewer sequences",
                                most, rounds));
}

bool narrow_enough(const Interval& interval, const UntilConfig& until) {
  const bool known = until.metric == Metric::alpha_overlap ? interval.bounded() : interval.judges();
  const double unit = until.relative ? std::abs(interval.estimate) : 1;
  return known && interval.half_width() <= until.half_width * unit;
}

void require_interval(const Config& cell, const std::vector<Metric>& known) {
  const Metric metric = cell.simulation.until->metric;
  if (std::find(known.begin(), known.end(), metric) != known.end()) return;
  std::vector<std::string> names;
  for (const Metric one : known) names.push_back(metric_name(one));
  throw ConfigError("/simulation/until/metric",
                    fmt::format("\"{}\" has no interval in \"{}\"; choose {}", metric_name(metric),
                                cell.experiment->name(), fmt::join(names, ", ")));
}

void run_until(Job& job, const Config& cell, double confidence) {
  if (job.precision) return;  // of another cell, too
  const bool decodes = job.kind == JobKind::decode || job.kind == JobKind::independent_acceptances;
  if (!decodes && job.kind != JobKind::acceptance) refuse_until(cell);
  using enum Metric;
  std::vector<Metric> known{alpha_overlap};
  if (decodes)
    known.insert(known.end(), {alpha_examined, alpha_drafted, tokens_per_target_step, tokens_variance,
                               speedup, operations, memory_accesses});
  require_interval(cell, known);
  if (job.simulation.prompts.size() > 1) {
    throw ConfigError(
        "/simulation/until",
        "does not go with recorded texts, nor with \"prompt_tokens\": their number is fixed; say "
        "\"trials\" alone");
  }
  const std::uint32_t least = job.kind == JobKind::independent_acceptances ? 2 : least_independent_trials;
  if (cell.simulation.trials < least) {
    throw ConfigError("/simulation/trials",
                      fmt::format("{} is too few to look at an interval after them; \"until\" begins with at "
                                  "least {}",
                                  cell.simulation.trials, least));
  }
  job.simulation = doubling_size(job.simulation);
  require_first_look(cell, job.simulation.total());
  const std::uint64_t most_by_trials = (std::uint64_t{1} << 32U) * job.simulation.length - 1;
  job.precision = wanted_precision(cell, job.simulation.total(),
                                   std::min(cell.simulation.until->most_rounds, most_by_trials), confidence);
}

void look_until_precise(Job& job, const std::function<Outcome()>& run) {
  job.outcome = run();
  for (job.looks = 1; !job.outcome.partial; ++job.looks) {
    job.precise = is_precise(job);
    if (job.precise || job.looks == job.precision->most_looks) break;
    const Outcome first = std::move(job.outcome);
    job.simulation = second_half_of_double(job.simulation);
    job.outcome = run();
    add_first_half(first, job.outcome);
  }
  job.simulation.only = {};
}

void keep_one_look(Job& job, int look, const BatchSpan& span) {
  if (!job.precision) return;  // made so for another cell
  job.precision.reset();
  job.looks = look;
  job.simulation.trials <<= look - 1;
  job.simulation.only = span;
}

BatchSpan batches_of_look(const SimulationSize& size, int look) {
  const std::uint32_t batches = doubling_size(size).batches;
  return {look == 1 ? 0 : batches / 2, batches};
}

void refuse_until(const Config& cell) {
  throw ConfigError("/simulation/until",
                    fmt::format("is for decode, acceptance, iid and compare; \"{}\" simulates what "
                                "\"trials\" and \"length\" say",
                                cell.experiment->name()));
}

void refuse_until(const Config& config, const std::string& what) {
  if (!config.simulation.until) return;
  throw ConfigError("/simulation/until",
                    fmt::format("{}; leave this out with --set simulation.until=null", what));
}

}  // namespace speclab
