// Simulations that go on until an interval is narrow: which may, and when they end.
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

/// The interval that a config says "until" of, and what it is made with.
struct WantedInterval {
  UntilConfig until;
  CostRatios cost;
};
/// None of a config that says the size of its simulation.
std::optional<WantedInterval> wanted_interval(const ConfigReader& config);

/// When a simulation that doubles ends.
struct WantedPrecision {
  WantedInterval interval;
  int most_looks = 1;
  double confidence = 0.95;  ///< of the interval at each look
};

/// Of a simulation whose size, in any unit, is `first` at its first look and may double up to `most`;
/// `confidence` is that of all looks together.
WantedPrecision wanted_precision(const WantedInterval& interval, std::uint64_t first, std::uint64_t most,
                                 double confidence);

/// Whether an interval is as narrow as it is to be. One of width 0 says that batches are alike, not that the
/// error is 0, except of overlaps, which are computed.
bool narrow_enough(const Interval& interval, const UntilConfig& until);

/// Throws ConfigError for a cell whose job of this kind cannot go on until its interval is narrow.
void check_until(const Config& cell, JobKind kind);

/// Makes a job of which an interval is wanted one that doubles; `confidence` is that of the intervals of all
/// cells. Throws ConfigError for one that cannot, naming the experiment.
void run_until(Job& job, const std::string& experiment, double confidence);

/// Looks at such a job whenever it has doubled. `run` gives what the job's simulation says then: the whole at
/// first, and what each doubling adds. Ends early after one that is partial; then the job's looks are those
/// that it would have had with it.
void look_until_precise(Job& job, const std::function<Outcome()>& run);

/// Throws ConfigError when there may not be as many rounds as come before the first look.
void require_first_look(const UntilConfig& until, std::uint64_t rounds);
/// Throws ConfigError for a metric that is not among those that have an interval in the experiment.
void require_interval(const UntilConfig& until, const std::vector<Metric>& known,
                      const std::string& experiment);
/// Throws ConfigError for an experiment that simulates what "trials" and "length" say.
[[noreturn]] void refuse_until_of(const std::string& experiment);
/// For verbs that do not run a config's simulation: throws ConfigError when it is to go on until an interval
/// is narrow. `what` says who does what: "check tests as many sequences as check.samples says".
void refuse_until(const Config& config, const std::string& what);

}  // namespace speclab
