// The experiment "schedules": schedules of drafting and verification over the same acceptances, simulated on
// a virtual clock and compared with their closed forms.
#include "experiments/studies/schedules/schedules.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/jobs.hpp"

namespace speclab {

namespace {

/// Returns the schedules to compare if a config names none.
std::vector<ScheduleConfig> usual_schedules() {
  std::vector<ScheduleConfig> all;
  for (const char* kind : {"plain", "speculative", "upper-bound", "heads", "dsi", "pearl",
                           "speculative_function_execution", "batched"}) {
    all.push_back(selected(*schedule_family().find_entry(kind)));
    all.back().path = fmt::format("/schedules/compare/{}", all.size() - 1);
  }
  return all;
}

struct SchedulesSection {
  std::vector<ScheduleConfig> compare = usual_schedules();
  std::uint64_t trace_tokens = 0;  ///< length of the drawn timeline, in target-run times; 0: none
};

/// A schedule of a config with the name of its row, which must be unique.
struct NamedSchedule {
  std::string name;
  std::string kind;
  std::optional<int> gamma;
  std::optional<double> c;
  MadeSchedule made;
};

/// Returns the schedules of a config, in its order. Throws ConfigError for parameters that do not fit.
std::vector<NamedSchedule> schedules_of(const Config& config) {
  const ScheduleRequest request{
      .gamma = config.gamma, .c = config.cost.c, .length = config.simulation.length};
  std::vector<NamedSchedule> all;
  for (const ScheduleConfig& chosen : config.section<SchedulesSection>().compare) {
    MadeSchedule made = chosen.entry().make(chosen, request);
    Json keys;
    write(kind_of(schedule_family()), chosen, keys);
    const auto gamma = keys.contains("gamma") ? std::optional(keys["gamma"].get<int>()) : std::nullopt;
    const auto c = keys.contains("c") ? std::optional(keys["c"].get<double>()) : std::nullopt;
    const std::string wanted = !chosen.label.empty() ? chosen.label
                               : c                   ? fmt::format("{}, c = {}", made.name, *c)
                                                     : made.name;
    std::string name = wanted;
    const auto taken = [&](const NamedSchedule& other) { return other.name == name; };
    for (int copy = 2; std::any_of(all.begin(), all.end(), taken); ++copy)
      name = fmt::format("{} ({})", wanted, copy);
    all.push_back({std::move(name), chosen.name(), gamma, c, std::move(made)});
  }
  return all;
}

/// Most runs on a timeline: more than an eye can distinguish, but still drawn in seconds.
constexpr double max_traced_runs = 20'000;

/// Throws ConfigError for a timeline with more runs than can be drawn.
void check_traces(const Config& config, const std::vector<NamedSchedule>& named) {
  const auto tokens = static_cast<double>(config.section<SchedulesSection>().trace_tokens);
  for (const NamedSchedule& each : named) {
    const double runs = tokens * each.made.runs_per_time;
    if (runs <= max_traced_runs) continue;
    throw ConfigError("/schedules/trace_tokens",
                      "{:.0f} target runs of \"{}\" hold about {:.0f} runs; a timeline draws at most {:.0f}: "
                      "trace fewer tokens, or take a larger c",
                      tokens, each.name, runs, max_traced_runs);
  }
}

/// Each thread holds one trial in memory.
constexpr std::uint64_t longest_trial = 100'000'000;

/// Positions beyond a trial's tokens that its last rounds may read; a longer run of acceptances is cut. With
/// independent acceptances a run is longer with probability at most e^-40 if alpha is below 0.99996.
constexpr std::size_t spare_of_models = 128;
std::size_t spare_of_independent_acceptances(double alpha) {
  constexpr double least = 1024;
  constexpr double most = 1e6;
  return static_cast<std::size_t>(alpha < 1 ? std::min(least + 40 / (1 - alpha), most) : least);
}

/// Sums of one schedule: times over each batch's trials, and tokens over all trials.
struct ScheduleSums {
  std::vector<double> plain_time;
  std::vector<double> time;
  std::uint64_t tokens = 0;

  BatchRatio ratio() const { return {plain_time, time}; }
};

struct BatchSums {
  std::vector<double> accepted;
  std::vector<double> positions;
  std::vector<ScheduleSums> schedules;
};

BatchSums sums_of(const ScheduleRuns& runs, std::size_t schedules, std::uint32_t length,
                  std::size_t batches) {
  const std::vector<double> zeros(batches);
  BatchSums sums{zeros, zeros, std::vector(schedules, ScheduleSums{zeros, zeros})};
  for (std::size_t trial = 0; trial < runs.trials(); ++trial) {
    end_if_stopped();
    // A batch has consecutive trials; sizes of batches differ by at most one.
    const std::size_t batch = trial * batches / runs.trials();
    sums.accepted[batch] += real(runs.accepted(trial));
    sums.positions[batch] += length;
    const std::span<const Elapsed> elapsed = runs.elapsed(trial);
    for (std::size_t i = 0; i < schedules; ++i) {
      sums.schedules[i].plain_time[batch] += elapsed[i].plain_time;
      sums.schedules[i].time[batch] += elapsed[i].time;
      sums.schedules[i].tokens += elapsed[i].tokens;
    }
  }
  return sums;
}

/// Returns the speedup's interval. Its error is unknown if most batches took the same time, for which
/// Student's t does not hold, unless all took the formula's time, as decoding without speculation does.
Interval speedup_interval(const ScheduleSums& sums, std::optional<double> formula, double confidence) {
  const Interval interval = *ratio_interval(sums.plain_time, sums.time, confidence);
  if (varies(sums.ratio())) return interval;
  const double rounding = 1e-9 * std::abs(interval.estimate);  // rounding of sums of times
  const bool certain =
      formula && std::abs(*formula - interval.estimate) <= rounding && interval.half_width() <= rounding;
  return certain ? interval : unbounded(interval.estimate);
}

/// Returns true if the interval contains the formula; empty if the error is unknown.
std::optional<bool> verdict(const Interval& interval, double formula) {
  if (!interval.bounded()) return std::nullopt;
  const double rounding = 1e-9 * std::abs(formula);  // rounding of sums of times
  return interval.low - rounding <= formula && formula <= interval.high + rounding;
}

std::string track_name(const Track& track, bool numbered) {
  static constexpr const char* names[]{"draft", "target", "f", "g", "stand-in for f"};
  const std::string name = names[static_cast<std::size_t>(track.kind)];
  return numbered ? fmt::format("{} {}", name, track.number + 1) : name;
}

std::string label_of(const Event& event) {
  if (event.tokens < 0) return "";
  return event.accepted < 0 ? fmt::format("{}", event.tokens)
                            : fmt::format("{} of {} accepted", event.accepted, event.tokens);
}

/// Returns the trace with its tracks in the order of kind and number, for drawings.
ScheduleTrace trace_of(const NamedSchedule& named, const AcceptanceBits& bits, std::uint64_t tokens,
                       std::uint64_t seed) {
  EventLog log{static_cast<double>(tokens)};
  named.made.schedule.run(Acceptances{bits, std::max(tokens, named.made.min_tokens), seed, 0}, log);
  std::ranges::stable_sort(log.events, {}, [](const Event& event) {
    return std::tuple(event.track.kind, event.track.number, event.start);
  });
  std::set<TrackKind> numbered;
  for (const Event& event : log.events) {
    if (event.track.number > 0) numbered.insert(event.track.kind);
  }
  ScheduleTrace trace;
  trace.schedule = named.name;
  for (const Event& event : log.events) {
    trace.end = std::max(trace.end, event.end);
    trace.runs.push_back({event.start, event.end,
                          track_name(event.track, numbered.contains(event.track.kind)), event.kind,
                          label_of(event)});
  }
  return trace;
}

/// A cell's schedules over the same acceptances. `setup` is null if these are independent.
class ComparedSchedules {
 public:
  ComparedSchedules(const Config& config, std::vector<NamedSchedule> named,
                    std::shared_ptr<const Setup> setup)
      : section_(config.section<SchedulesSection>()),
        named_(std::move(named)),
        setup_(std::move(setup)),
        simulation_(setup_ ? setup_->simulation : simulation_size(config)),
        exact_alpha_(setup_ ? setup_->exact_alpha : config.alpha) {}

  std::uint64_t steps() const {
    return std::uint64_t{simulation_.trials} * simulation_.length * named_.size();
  }

  /// Runs all schedules and fills in the result. Throws Stopped.
  void run(CellResult& result, const RunContext& context) const {
    std::vector<AnySchedule> schedules;
    for (const NamedSchedule& each : named_) schedules.push_back(each.made.schedule);
    const ScheduleRuns runs = run_schedules(
        schedules, simulation_, [this](std::uint32_t trial) { return acceptances(trial); }, context.control);
    if (runs.trials() == 0) throw Stopped{};
    SchedulesResult own;
    const BatchSums sums = sums_of(runs, named_.size(), simulation_.length,
                                   std::min<std::size_t>(simulation_.batches, simulation_.trials));
    const Interval share = *known_bounds(
        bounded_ratio_interval(sums.accepted, sums.positions, {0, 1}, context.confidence), independence());
    result.formula_alpha = exact_alpha_ ? AlphaSource::exact : AlphaSource::measured;
    result.exact_alpha = exact_alpha_;
    if (!exact_alpha_) own.measured_alpha = share;
    add_rows(own, sums.schedules, std::clamp(exact_alpha_.value_or(share.estimate), 0.0, 1.0),
             context.confidence);
    for (const ScheduleRow& row : own.rows) {
      if (row.formula_within_interval) result.agreement.emplace_back(row.name, *row.formula_within_interval);
    }
    if (section_.trace_tokens > 0) {
      const AcceptanceBits first = acceptances(0);
      const std::uint64_t tokens = std::min<std::uint64_t>(section_.trace_tokens, simulation_.length);
      own.traces.emplace();
      for (const NamedSchedule& each : named_)
        own.traces->push_back(trace_of(each, first, tokens, simulation_.seed));
    }
    result.own = std::move(own);
  }

 private:
  AcceptanceBits acceptances(std::uint32_t trial) const {
    if (setup_) {
      return pair_acceptances(setup_->target, setup_->draft, setup_->rule.sampled, simulation_, trial,
                              simulation_.length + spare_of_models);
    }
    return iid_acceptances(*exact_alpha_, simulation_.seed, trial,
                           simulation_.length + spare_of_independent_acceptances(*exact_alpha_));
  }

  Independence independence() const {
    return exact_alpha_ ? Independence::batches : independence_of_contexts(simulation_);
  }

  void add_rows(SchedulesResult& own, const std::vector<ScheduleSums>& sums, double alpha,
                double confidence) const {
    const auto reference = std::ranges::find(named_, "speculative", &NamedSchedule::kind);
    if (reference != named_.end()) own.reference = reference->name;
    for (std::size_t i = 0; i < named_.size(); ++i) {
      const MadeSchedule& made = named_[i].made;
      ScheduleRow& row = own.rows.emplace_back();
      row.name = named_[i].name;
      row.kind = named_[i].kind;
      row.gamma = named_[i].gamma;
      row.c = named_[i].c;
      row.formula = made.formula(alpha);
      if (made.printed) row.commonly_printed = {made.printed->meaning, made.printed->value(alpha)};
      row.speedup = *known_bounds(speedup_interval(sums[i], row.formula, confidence), independence());
      if (row.formula && exact_alpha_) row.formula_within_interval = verdict(row.speedup, *row.formula);
      if (row.formula && !exact_alpha_) row.error_percent = 100 * (*row.formula / row.speedup.estimate - 1);
      if (reference != named_.end() && &named_[i] != &*reference) {
        const ScheduleSums& other = sums[static_cast<std::size_t>(reference - named_.begin())];
        row.difference =
            known_bounds(paired_difference(sums[i].ratio(), other.ratio(), confidence), independence());
      }
      row.tokens = sums[i].tokens;
    }
  }

  const SchedulesSection& section_;
  std::vector<NamedSchedule> named_;
  std::shared_ptr<const Setup> setup_;
  SimulationSize simulation_;
  std::optional<double> exact_alpha_;
};

void check_schedules(const Config& config) {
  if (!config.models && !config.alpha)
    throw ConfigError("/alpha", "missing; schedules needs an acceptance rate, or models to measure it on");
  if (config.models && config.alpha)
    throw ConfigError("/alpha", "schedules takes acceptances from models or from alpha; give one of them");
  if (config.simulation.trials < 2) {
    throw ConfigError("/simulation/trials", "{} is not an integer >= 2: intervals need trials to compare",
                      config.simulation.trials);
  }
  if (config.simulation.length > longest_trial) {
    throw ConfigError("/simulation/length", "{} is not an integer <= {}; use more trials",
                      config.simulation.length, longest_trial);
  }
  const std::vector<NamedSchedule> named = schedules_of(config);
  check_traces(config, named);
  // the memory that run_schedules holds for a trial
  const auto bytes = static_cast<double>(named.size() * sizeof(Elapsed) + sizeof(std::uint64_t));
  require_memory(bytes * config.simulation.trials, "/simulation/trials",
                 fmt::format("{} trials of {} schedules", config.simulation.trials, named.size()));
  if (config.models) check_setup(config);
}

Work prepare_schedules(const CellSpec& cell, JobList& jobs) {
  ComparedSchedules schedules(cell.config, schedules_of(cell.config),
                              cell.config.models ? jobs.setup(cell.config) : nullptr);
  const std::uint64_t steps = schedules.steps();
  const auto finish = [schedules = std::move(schedules)](CellResult& result, const RunContext& context) {
    schedules.run(result, context);
  };
  return {.finish = finish, .own_steps = steps};
}

}  // namespace

SectionKind schedules_section() {
  using S = SchedulesSection;
  return {"schedules",
          object<S>("schedules",
                    "The experiment schedules compares schedules over independent acceptances of probability "
                    "\"alpha\", or those of \"models\".",
                    {field("compare", &S::compare, list(kind_of(schedule_family()), 1, 64),
                           "The schedules; each gets one row."),
                     integer_field("trace_tokens", &S::trace_tokens, 0, 1000,
                                   "Draws a timeline as long as this many target runs; 0 draws none.")})
              .type};
}

const Experiment& schedules_experiment() {
  static const Experiment experiment{
      .name = "schedules",
      .sentence =
          "Schedules of drafting and verification on a virtual clock, over the same acceptances, compared "
          "with their closed forms.",
      .sections = {"schedules"},
      .reads = {"alpha", "models", "gamma", "cost/c", "simulation/trials", "simulation/length",
                "simulation/batches"},
      .reads_with_models = {"corpus", "sampling", "simulation/prompt", "simulation/prompt_tokens"},
      .check = check_schedules,
      .prepare = prepare_schedules,
      // a speedup and a difference for each
      .intervals =
          [](const Config& cell) {
            return 2 * static_cast<int>(cell.section<SchedulesSection>().compare.size());
          },
      .recordings = Recordings::decoding,
      .own_key = "schedules",
      .own_result = described<SchedulesResult>().type,
      .presentation = presented(schedules_presentation())};
  return experiment;
}

}  // namespace speclab
