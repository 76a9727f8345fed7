// Plans for a server under load: simulates policies of gamma at several rates of requests (serving/server).
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

/// The server of a section "serving", for which policies and rates are compared.
struct LoadQuestion : PlannedPair {
  /// The section's policy joins the comparison unless it is fixed. Costs are those of this pair, and `rates`
  /// replaces the section's arrivals.
  ServingSection server{};
  StepExtras extras{};
  std::optional<double> alpha{};  ///< used where the section's acceptance has no rate
  std::vector<double> rates{};    ///< requests per second; empty: ten rates, chosen from the capacity
  /// True if the user did not set the number of measured requests: bursts then last for at least ten turns of
  /// both phases.
  bool usual_size = false;
  /// Share of the device's memory, which bounds caches where the section does not.
  double memory_share = 0.9;
  int max_gamma = 8;
  std::uint64_t seed = 1;
  double confidence = 0.95;
};
/// Returns the question of a config with the section "serving"; other members keep their defaults. Throws
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
  double capacity = 0;  ///< requests per second of a full server
  /// The highest rate at which the percentile's share of requests keeps the targets, over runs. Empty without
  /// targets, for a single rate, and if some run keeps them at no rate.
  std::optional<Interval> highest{};
  std::vector<LoadPoint> points{};
};

/// The best policy at one rate: the one with the largest share of requests that keep the targets, or without
/// targets the least mean latency.
struct LoadChoice {
  double rate = 0;
  std::string policy{};                       ///< empty if all policies have a state
  std::vector<std::string> not_told_apart{};  ///< policies whose difference from it may be chance
};

/// A table of gamma for one range of mean contexts: above those of the table before it, and up to `context`
/// tokens. A `context` of 0 means all longer ones.
struct ContextTable {
  double context = 0;
  std::vector<BatchRange> rows{};  ///< gamma by batch
};

struct LoadPlan : MemoryFit {
  std::string arrivals;  ///< in words
  std::string lengths;
  std::string acceptance;
  std::string costs;
  std::optional<std::string> draft_device;  ///< in words
  /// Maximum of a sequence's cached tokens that a draft run reads.
  std::optional<std::uint32_t> draft_budget;
  /// Tokens of cache in a replica with a draft; empty if there is no limit.
  std::optional<std::uint64_t> cache_tokens;
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;
  double percentile = 95;
  double confidence = 0.95;
  std::uint64_t requests = 0;  ///< measured requests of a run at the lowest rate
  int runs = 0;
  std::vector<LoadPolicy> policies;
  std::vector<LoadChoice> best;  ///< one per rate
  /// From the rate `off_from` on, plain decoding has a lower mean latency than any fixed gamma. At
  /// `on_until`, the rate before it, it has not. Both are empty if a fixed gamma is better at the highest
  /// rate; `on_until` is also empty if plain decoding is better at every rate.
  std::optional<double> off_from;
  std::optional<double> on_until;
  std::vector<BatchRange> table;  ///< gamma by batch, for the mean context
  /// Gamma by batch and context; empty if it does not depend on the context.
  std::vector<ContextTable> context_tables;
  std::vector<ServerSetting> settings;
  std::vector<std::string> warnings;
};

template <>
const Typed<LoadPlan>& described();

/// Simulates every policy at every rate, in parallel. Returns nothing when `control` ended it. Progress
/// counts requests.
std::optional<LoadPlan> plan_load(const LoadQuestion& question, const Control& control);
/// Estimates the number of requests in all simulations. It is not known in advance how many the search for
/// highest rates and the choice of rates will take.
std::uint64_t load_work(const LoadQuestion& question);

Listing load_text(const LoadPlan& plan);
std::string load_headline(const LoadPlan& plan);
std::vector<Figure> load_figures(const LoadPlan& plan);

}  // namespace speclab
