#include "experiments/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/interval_json.hpp"
#include "experiments/schedule_choice.hpp"

namespace speclab {

namespace {

/// Trials are held in memory one a thread.
constexpr std::uint64_t longest_trial = 100'000'000;

/// Positions beyond a trial's tokens, for what the last rounds read. Runs of acceptances outlast them with
/// probability e^-40 at most, below alpha = 0.99996; runs of a pair of models that do are cut.
constexpr std::size_t spare_of_models = 128;
std::size_t spare_of_coins(double alpha) {
  constexpr double least = 1024;
  constexpr double most = 1e6;
  return static_cast<std::size_t>(alpha < 1 ? std::min(least + 40 / (1 - alpha), most) : least);
}

struct Batches {
  std::vector<double> plain_time;
  std::vector<double> time;

  std::optional<Interval> speed(double confidence) const {
    return ratio_interval(plain_time, time, confidence);
  }
};

/// Sums over consecutive trials, whose numbers differ by one at most.
std::size_t batch_of(std::size_t trial, std::size_t trials, std::size_t batches) {
  return trial * batches / trials;
}

std::vector<Batches> batches_of(const ScheduleRuns& runs, std::size_t schedules, std::size_t batches) {
  std::vector<Batches> all(schedules, {std::vector<double>(batches), std::vector<double>(batches)});
  for (std::size_t trial = 0; trial < runs.trials.size(); ++trial) {
    const std::size_t batch = batch_of(trial, runs.trials.size(), batches);
    for (std::size_t i = 0; i < schedules; ++i) {
      all[i].plain_time[batch] += runs.trials[trial][i].plain_time;
      all[i].time[batch] += runs.trials[trial][i].time;
    }
  }
  return all;
}

Interval measured_alpha(const ScheduleRuns& runs, const SimulationSize& plan, std::size_t batches,
                        double confidence) {
  std::vector<double> accepted(batches);
  std::vector<double> positions(batches);
  for (std::size_t trial = 0; trial < runs.accepted.size(); ++trial) {
    const std::size_t batch = batch_of(trial, runs.accepted.size(), batches);
    accepted[batch] += static_cast<double>(runs.accepted[trial]);
    positions[batch] += plan.length;
  }
  return *ratio_interval(accepted, positions, confidence);
}

/// Up to rounding, which is all there is where nothing varies.
bool holds(const Interval& interval, double value) {
  const double rounding = 1e-9 * std::abs(value);
  return interval.low - rounding <= value && value <= interval.high + rounding;
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string lane_name(const Track& lane, bool numbered) {
  static constexpr const char* names[]{"draft", "target", "f", "g", "stand-in for f"};
  const std::string name = names[static_cast<std::size_t>(lane.kind)];
  return numbered ? fmt::format("{} {}", name, lane.number + 1) : name;
}

std::string kind_name(EventKind kind) {
  static constexpr const char* names[]{"draft run",  "target run", "dropped run",
                                       "function f", "function g", "stand-in for f"};
  return names[static_cast<std::size_t>(kind)];
}

std::string label_of(const Event& event) {
  if (event.tokens < 0) return "";
  return event.accepted < 0 ? fmt::format("{}", event.tokens)
                            : fmt::format("{} of {} accepted", event.accepted, event.tokens);
}

/// Lanes in the order of their kinds and numbers, so that drawings have them so.
Json trace_of(const NamedSchedule& named, const AcceptanceBits& bits, std::uint64_t tokens,
              const SimulationSize& plan) {
  EventLog log{static_cast<double>(tokens)};
  run_schedule(named.schedule, Acceptances{bits, std::max(tokens, named.least_tokens), plan.seed, 0}, log);
  const auto before = [](const Event& a, const Event& b) {
    return std::tuple(a.track.kind, a.track.number, a.start) <
           std::tuple(b.track.kind, b.track.number, b.start);
  };
  std::stable_sort(log.events.begin(), log.events.end(), before);
  double end = 0;
  Json events = Json::array();
  for (const Event& event : log.events) {
    const bool numbered = std::any_of(log.events.begin(), log.events.end(), [&](const Event& other) {
      return other.track.kind == event.track.kind && other.track.number > 0;
    });
    end = std::max(end, event.end);
    events.push_back({{"start", event.start},
                      {"end", event.end},
                      {"lane", lane_name(event.track, numbered)},
                      {"kind", kind_name(event.kind)},
                      {"label", label_of(event)}});
  }
  return {{"schedule", named.name}, {"end", end}, {"events", events}};
}

}  // namespace

bool schedules_have_models(const Json& config) { return config.contains("models"); }

void check_schedules(const Json& config) {
  const bool models = schedules_have_models(config);
  if (!models && !config.contains("alpha")) {
    throw ConfigError("/alpha", "missing; schedules needs an acceptance rate, or models to measure it on");
  }
  if (models && config.contains("alpha")) {
    throw ConfigError("/alpha", "schedules takes acceptances from models or from alpha; give one of them");
  }
  const Json& kind = config.at("verifier").at("kind");
  if (kind != "token") {
    throw ConfigError("/verifier/kind",
                      fmt::format("{} is not a coin a position: schedules compares token verification; leave "
                                  "the verifier out",
                                  shown(kind)));
  }
  const Json& plan = config.at("plan");
  if (plan.at("trials").get<std::uint64_t>() < 2) {
    throw ConfigError("/plan/trials", "1 is not an integer >= 2: intervals need trials to compare");
  }
  if (plan.at("length").get<std::uint64_t>() > longest_trial) {
    throw ConfigError("/plan/length", fmt::format("{} is not an integer <= {}; use more trials",
                                                  shown(plan.at("length")), longest_trial));
  }
  schedules_of(config);
}

std::uint64_t schedule_workload(const Json& config) {
  const Json& plan = config.at("plan");
  return plan.at("trials").get<std::uint64_t>() * plan.at("length").get<std::uint64_t>() *
         section(config, "schedules").at("compare").size();
}

int schedule_intervals(const Json& config) {
  // A speed and a difference each.
  return 2 * static_cast<int>(section(config, "schedules").at("compare").size());
}

void describe_schedules(Json& out, const Setup* setup, const Json& config, double confidence,
                        const Control& control) {
  const std::vector<NamedSchedule> named = schedules_of(config);
  const SimulationSize plan = setup != nullptr ? setup->plan : build_plan(config);
  std::optional<double> exact;
  if (setup != nullptr) {
    exact = setup->exact_alpha;
  } else {
    exact = config.at("alpha").get<double>();
  }
  const MakeBits bits = [&](std::uint32_t trial) {
    return setup == nullptr ? iid_acceptances(*exact, plan.seed, trial, plan.length + spare_of_coins(*exact))
                            : pair_acceptances(setup->target, setup->draft, TokenRule{}, plan, trial,
                                               plan.length + spare_of_models);
  };
  std::vector<AnySchedule> schedules;
  schedules.reserve(named.size());
  for (const NamedSchedule& each : named) schedules.push_back(each.schedule);
  const ScheduleRuns runs = run_schedules(schedules, plan, bits, control);
  if (runs.trials.empty()) {
    out["partial"] = true;
    return;
  }
  const std::size_t count = std::min<std::size_t>(plan.batches, plan.trials);
  const std::vector<Batches> batches = batches_of(runs, named.size(), count);
  const Interval measured = measured_alpha(runs, plan, count, confidence);
  const double alpha = std::clamp(exact.value_or(measured.estimate), 0.0, 1.0);
  out["formula_alpha"] = exact ? "exact" : "measured";
  out["alpha"] = exact ? Json(*exact) : interval_json(measured);

  const auto reference = std::find_if(named.begin(), named.end(),
                                      [](const NamedSchedule& each) { return each.kind == "speculative"; });
  if (reference != named.end()) out["reference"] = reference->name;
  Json& rows = out["schedules"] = Json::array();
  Json agreement = Json::object();
  for (std::size_t i = 0; i < named.size(); ++i) {
    const NamedSchedule& each = named[i];
    const std::optional<double> formula = each.formula(alpha);
    const Interval speed = *batches[i].speed(confidence);
    Json& row = rows.emplace_back(Json{{"name", each.name}, {"kind", each.kind}});
    row["formula"] = number_or_null(formula);
    if (each.usual) {
      row["usual"] = Json{{"name", each.usual_name}, {"value", number_or_null(each.usual(alpha))}};
    }
    row["simulated"] = interval_json(speed);
    if (formula && exact) row["inside"] = agreement[each.name] = holds(speed, *formula);
    if (formula && !exact) row["error_percent"] = 100 * (*formula / speed.estimate - 1);
    if (reference != named.end() && &each != &*reference) {
      const Batches& other = batches[static_cast<std::size_t>(reference - named.begin())];
      row["difference"] = interval_json(*paired_difference({batches[i].plain_time, batches[i].time},
                                                           {other.plain_time, other.time}, confidence));
    }
    std::uint64_t tokens = 0;
    for (const std::vector<Elapsed>& trial : runs.trials) tokens += trial[i].tokens;
    row["tokens"] = tokens;
  }
  if (!agreement.empty()) out["agreement"] = std::move(agreement);

  const auto traced = section(config, "schedules").at("trace_tokens").get<std::uint64_t>();
  if (traced == 0) return;
  const AcceptanceBits first = bits(0);
  Json& trace = out["trace"] = Json::array();
  for (const NamedSchedule& each : named) {
    trace.push_back(trace_of(each, first, std::min<std::uint64_t>(traced, plan.length), plan));
  }
}

}  // namespace speclab
