// Simulations that continue until an interval is narrow enough (simulation.until). They double, and after
// each doubling look at the interval: a "look" is an interim analysis, as in group-sequential tests.
#pragma once

#include <functional>
#include <string>

#include "analysis/statistics/estimates.hpp"
#include "experiments/config/config_reader.hpp"
#include "experiments/config/simulation_config.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

struct Config;
struct Job;
enum class JobKind;

/// The interval that "until" names, and the costs that it depends on.
struct WantedInterval {
  UntilConfig until;
  CostRatios cost;
};
/// Returns the interval; empty if the config gives the size of its simulation.
std::optional<WantedInterval> wanted_interval(const ConfigReader& config);

/// When a doubling simulation ends.
struct WantedPrecision {
  int max_looks = 1;
  double confidence = 0.95;  ///< confidence of the interval at each look
};

/// Throws ConfigError if the cell's job of this kind cannot continue until its interval is narrow.
void check_until(const Config& cell, JobKind kind);

/// Makes a job with a wanted interval a doubling one; `confidence` is that of all cells' intervals. Throws
/// ConfigError, naming the experiment, if the job cannot be one.
void run_until(Job& job, const std::string& experiment, double confidence);

/// Runs a doubling job, looking at its interval after each doubling. `run` returns the outcome of the job's
/// simulation: all of it at first, later only the part that a doubling adds. A partial outcome ends it early;
/// `job.looks` then also counts the look that was not made.
void look_until_precise(Job& job, const std::function<Outcome()>& run);

/// Throws ConfigError for a config with "until", for verbs that do not run it. `what` begins the message:
/// "check tests as many sequences as check.samples says".
void refuse_until(const Config& config, const std::string& what);

}  // namespace speclab
