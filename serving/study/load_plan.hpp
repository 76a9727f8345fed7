// Plans for a server under load: simulates policies of gamma at several request rates (serving/server).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/plan_result.hpp"
#include "serving/study/serving_study.hpp"
#include "sim/control.hpp"

namespace speclab {

/// The server, policies and rates to compare.
struct LoadQuestion : PlannedPair {
  /// Its policy joins the comparison unless it is fixed. This pair's costs and `rates` replace the section's.
  ServingSection server{};
  StepExtras extras{};
  std::optional<double> alpha{};   ///< used if the section's acceptance has no rate
  std::string acceptance_words{};  ///< where acceptance comes from; empty: as the section says
  std::vector<double> rates{};     ///< requests per second; empty: ten, chosen from the capacity
  /// True if the user did not set the measured requests; runs with bursts then cover ten of each phase.
  bool usual_size = false;
  /// True: `plan_layouts` may split the target's devices into replicas, each in tensor parallel.
  bool any_layout = false;
  /// Share of the device's memory; bounds caches if the section does not.
  double memory_share = 0.9;
  int max_gamma = 8;
  std::uint64_t seed = 1;
  double confidence = 0.95;
};
/// Returns the question of a config's section "serving"; other members keep their defaults. Throws
/// ConfigError for a section that cannot be planned for.
LoadQuestion load_question(const Config& config, int max_gamma);

/// One policy at one rate, with the numbers of the section (ServingNumber). Intervals are over runs; policies
/// share the requests and random numbers of a run. An overloaded point has no numbers.
struct LoadPoint : ServingResult {
  double rate = 0;                       ///< requests per second
  std::optional<Interval> over_plain{};  ///< mean latency minus plain decoding's, over pairs of runs
};

struct LoadPolicy {
  std::string name{};
  std::string sentence{};
  bool settable = false;  ///< servers have settings for it
  double capacity = 0;    ///< requests per second of a full server
  /// Highest rate, over runs, at which the percentile's share of requests meets the targets. Empty without
  /// targets, for a single rate, and if a run meets them at no rate.
  std::optional<Interval> highest{};
  std::vector<LoadPoint> points{};
};

/// The best policy at a rate. Policies meet the targets if the percentile's share of requests does; without
/// targets all do. The best is the one with the least mean latency among those that meet the targets, or, if
/// none does, the one with the largest share of requests that do.
struct LoadChoice {
  double rate = 0;
  std::string policy{};                       ///< empty if all policies have a state
  std::vector<std::string> not_told_apart{};  ///< policies that differ from it by no more than chance
};

/// The recommended policy for the rates from `from` to `to`. Servers have settings for it, and at each of
/// these rates no other such policy is better by more than chance or 5%.
struct LoadAdvice {
  std::string policy{};
  double from = 0;  ///< requests per second
  double to = 0;
};

/// The limit of the recommended policy at the highest rate that it serves.
struct LoadLimit {
  std::string policy{};
  double capacity = 0;  ///< requests per second of a full server
  double running = 0;   ///< requests that a replica of the full server runs
  /// "targets" if the policy misses them below its capacity. Else "sequences", "cache" or "step tokens", if
  /// more of these gains 1% or more; else "speed".
  std::string binds{};
  std::string next{};        ///< the next choice, in words; empty if the targets bind
  double next_capacity = 0;  ///< with the next choice
};

/// A way to use the devices, and what its recommended policy reaches.
struct LoadLayout {
  int replicas = 1;
  int devices = 1;  ///< per replica, in tensor parallel
  bool chosen = false;
  std::optional<std::string> fits_reason{};  ///< why it does not fit; the rest is then empty
  double capacity = 0;                       ///< the best policy's: requests per second of a full server
  int served = 0;                            ///< rates at which the recommended policy meets the targets
  std::optional<double> low_ms{};            ///< mean latency at the lowest rate
  std::optional<double> high_ms{};           ///< mean latency at the highest rate that the best layout serves
};

struct LoadPlan : MemoryFit {
  std::string arrivals;  ///< in words
  std::string lengths;
  std::string acceptance;
  std::string costs;
  /// Most cached tokens per sequence that a draft run reads.
  std::optional<std::uint32_t> draft_budget;
  /// Cache tokens of a replica with a draft; empty: unlimited.
  std::optional<std::uint64_t> cache_tokens;
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;
  double percentile = 95;
  double confidence = 0.95;
  std::uint64_t requests = 0;  ///< measured requests of a run at the lowest rate
  int runs = 0;
  std::vector<LoadPolicy> policies;
  std::vector<LoadChoice> best;  ///< one per rate
  /// As few as possible, by increasing rate. None of them has rates at which all policies have a state.
  std::vector<LoadAdvice> recommended;
  std::optional<LoadLimit> limit;
  std::vector<LoadLayout> layouts;      ///< empty if only one was tried
  std::vector<BatchRange> table;        ///< by batch, for the mean context
  std::uint32_t max_sequences = 0;      ///< that a replica runs at the same time
  std::vector<ServerSetting> settings;  ///< for the recommended policies
  std::vector<std::string> warnings;
};

SPECLAB_IS_DESCRIBED(LoadPlan);

/// Simulates every policy at every rate, in parallel. Progress counts requests. Returns nothing if ended.
std::optional<LoadPlan> plan_load(const LoadQuestion& question, const Control& control);
/// Plans with every layout of the target's devices that is allowed (`any_layout`): replicas of equal size, in
/// tensor parallel. Returns the plan of the layout that serves the most rates, then has the least latencies.
std::optional<LoadPlan> plan_layouts(const LoadQuestion& question, const Control& control);
/// Estimates the number of simulated requests. The search for highest rates and the choice of rates take a
/// number that is not known in advance.
std::uint64_t load_work(const LoadQuestion& question);
/// Returns the sum of load_work over the layouts.
std::uint64_t layouts_work(const LoadQuestion& question);

Listing load_text(const LoadPlan& plan);
std::string load_headline(const LoadPlan& plan);
std::vector<Figure> load_figures(const LoadPlan& plan);

}  // namespace speclab
