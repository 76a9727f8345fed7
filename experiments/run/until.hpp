// Decides which simulations may continue until an interval is narrow, and when they end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "experiments/config/config_reader.hpp"
#include "experiments/config/simulation_config.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

struct Config;
struct Job;
enum class JobKind;

/// The interval that a config names under "until", and the costs from which it is computed.
struct WantedInterval {
  UntilConfig until;
  CostRatios cost;
};
/// Returns the interval; empty if the config gives the size of its simulation.
std::optional<WantedInterval> wanted_interval(const ConfigReader& config);

/// The end of a simulation that doubles.
struct WantedPrecision {
  WantedInterval interval;
  int most_looks = 1;
  double confidence = 0.95;  ///< confidence of the interval at each look
};

/// Returns the precision for a simulation whose size, in any unit, is `first` at its first look and may
/// double up to `most`; `confidence` is that of all looks together.
WantedPrecision wanted_precision(const WantedInterval& interval, std::uint64_t first, std::uint64_t most,
                                 double confidence);

/// Returns true if an interval is narrow enough. An interval of width 0 only means that all batches are
/// alike, not that the error is 0, except for overlaps, which are computed.
bool narrow_enough(const Interval& interval, const UntilConfig& until);

/// Throws ConfigError if the cell's job of this kind cannot continue until its interval is narrow.
void check_until(const Config& cell, JobKind kind);

/// Turns a job with a wanted interval into one that doubles; `confidence` is that of the intervals of all
/// cells. Throws ConfigError, naming the experiment, if the job cannot.
void run_until(Job& job, const std::string& experiment, double confidence);

/// Runs a job that continues until an interval is narrow, and looks at it each time it has doubled. `run`
/// returns the outcome of the job's simulation: of all of it at first, then of the part that each doubling
/// adds. Ends early after a partial outcome; the job's looks then include the one that it lacks.
void look_until_precise(Job& job, const std::function<Outcome()>& run);

/// Throws ConfigError if the limit on rounds is below `rounds`, the number before the first look.
void require_first_look(const UntilConfig& until, std::uint64_t rounds);
/// Throws ConfigError for a metric that has no interval in the experiment.
void require_interval(const UntilConfig& until, const std::vector<Metric>& known,
                      const std::string& experiment);
/// Throws ConfigError: this experiment simulates the size that "trials" and "length" give.
[[noreturn]] void refuse_until_of(const std::string& experiment);
/// Throws ConfigError if a config's simulation shall continue until an interval is narrow, for verbs that do
/// not run it. `what` states who does what: "check tests as many sequences as check.samples says".
void refuse_until(const Config& config, const std::string& what);

}  // namespace speclab
