// The plan for a server under load: policies of gamma at rates of requests, simulated (serving/server).
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

/// A server to plan for: that of a section, of which policies and rates are compared.
struct LoadQuestion : PlannedPair {
  /// Its policy is one more to compare, unless it is fixed. Its costs are those of this pair, and when its
  /// requests arrive is said by `rates`.
  ServingSection server{};
  StepExtras extras{};
  std::optional<double> alpha{};  ///< where the section's acceptance leaves it out
  std::vector<double> rates{};    ///< requests a second; empty: ten, chosen from the capacity
  /// Nobody has said how many requests are measured: in bursts ten turns of both phases at least.
  bool usual_size = false;
  double memory_share = 0.9;  ///< of the device, which bounds caches where the section does not
  int max_gamma = 8;
  std::uint64_t seed = 1;
  double confidence = 0.95;
};
/// Of a config with the section "serving", the rest as the struct has it. ConfigError for a section that
/// cannot be planned for.
LoadQuestion load_question(const Config& config, int max_gamma);

/// One policy at one rate. Intervals are over runs that share their requests and luck between policies.
struct LoadPoint {
  double rate = 0;          ///< requests a second
  bool overloaded = false;  ///< `overloaded_share` of the capacity or more: nothing else is known
  std::optional<Interval> latency_mean{};  ///< ms, arrival to last token
  std::optional<Interval> latency{};       ///< ms, at the percentile; so are the others
  std::optional<Interval> ttft{};
  std::optional<Interval> tpot{};
  std::optional<Interval> gap{};         ///< between two emissions of a request, of all gaps
  std::optional<Interval> kept{};        ///< share of requests that keep the targets
  std::optional<Interval> over_plain{};  ///< mean latency less plain decoding's, in pairs
  double batch = 0;                      ///< requests that run, mean over busy time
  double gamma = 0;                      ///< drafted tokens a round
  double accepted = 0;                   ///< accepted tokens a round
  double utilisation = 0;                ///< share of time in steps
  double preempted = 0;                  ///< times a request was put back, mean
};

struct LoadPolicy {
  std::string name{};
  std::string sentence{};
  double capacity = 0;  ///< requests a second with a full server
  /// The highest rate at which the share of requests given by the percentile keeps the targets, over runs;
  /// none without targets, for a single rate, and where no rate keeps them in every run.
  std::optional<Interval> highest{};
  std::vector<LoadPoint> points{};
};

/// The policy of the least mean latency at a rate, or of the largest share of requests that keep the targets.
struct LoadChoice {
  double rate = 0;
  std::string policy{};                       ///< empty: all are overloaded
  std::vector<std::string> not_told_apart{};  ///< policies whose difference to it may be chance
};

/// Of mean contexts above the one before, and up to `context` tokens; 0: of all longer ones.
struct ContextTable {
  double context = 0;
  std::vector<BatchRange> rows{};  ///< gamma by batch
};

struct LoadPlan : MemoryFit {
  std::string arrivals;  ///< words
  std::string lengths;
  std::string acceptance;
  std::string costs;
  std::optional<std::string> draft_device;    ///< words
  std::optional<std::uint32_t> draft_budget;  ///< most tokens of a cache that a draft run reads
  std::optional<std::uint64_t> cache_tokens;  ///< of a replica with a draft; none without bound
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;
  double percentile = 95;
  double confidence = 0.95;
  std::uint64_t requests = 0;  ///< of a run, at the lowest rate
  int runs = 0;
  std::vector<LoadPolicy> policies;
  std::vector<LoadChoice> best;  ///< by rate
  /// The lowest rate from which on plain decoding has the lower mean latency than any fixed gamma, and the
  /// rate before it, at which it has not; none where it never has.
  std::optional<double> off_from;
  std::optional<double> on_until;
  std::vector<BatchRange> table;             ///< gamma by batch, for the mean context
  std::vector<ContextTable> context_tables;  ///< by batch and context, where they differ; else empty
  std::vector<ServerSetting> settings;
  std::vector<std::string> warnings;
};

template <>
const Typed<LoadPlan>& described();

/// Simulates every policy at every rate, in parallel. None when `control` ended it. Progress counts requests.
std::optional<LoadPlan> plan_load(const LoadQuestion& question, const Control& control);
/// Requests of all its simulations, about: highest rates are searched for, and rates may have to be chosen
/// first.
std::uint64_t load_work(const LoadQuestion& question);

Listing load_text(const LoadPlan& plan);
std::string load_headline(const LoadPlan& plan);
std::vector<Figure> load_figures(const LoadPlan& plan);

}  // namespace speclab
