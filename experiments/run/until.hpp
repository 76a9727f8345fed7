// Simulations that go on until an interval is narrow: which may, and when they end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "experiments/config/config.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

struct Job;

/// When a simulation that doubles ends.
struct WantedPrecision {
  UntilConfig until;
  CostRatios cost;
  int most_looks = 1;
  double confidence = 0.95;  ///< of the interval at each look
};

/// Of a simulation whose size, in any unit, is `first` at its first look and may double up to `most`;
/// `confidence` is that of all looks together.
WantedPrecision wanted_precision(const Config& cell, std::uint64_t first, std::uint64_t most,
                                 double confidence);

/// Whether an interval is as narrow as it is to be. One of width 0 says that batches are alike, not that the
/// error is 0, except of overlaps, which are computed.
bool narrow_enough(const Interval& interval, const UntilConfig& until);

/// Makes a job of a cell whose config says `until` one that doubles; `confidence` is that of the cell's
/// intervals. Throws ConfigError for one that cannot.
void run_until(Job& job, const Config& cell, double confidence);

/// Looks at such a job whenever it has doubled. `run` gives what the job's simulation says then: the whole at
/// first, and what each doubling adds. Ends early after one that is partial; then the job's looks are those
/// that it would have had with it.
void look_until_precise(Job& job, const std::function<Outcome()>& run);

/// Makes such a job the batches `span` of what one look adds, from 1, and nothing else.
void keep_one_look(Job& job, int look, const BatchSpan& span);

/// The batches of a simulation of this size that a look of a job that doubles adds, from 1. At least two
/// trials.
BatchSpan batches_of_look(const SimulationSize& size, int look);

/// Throws ConfigError when there may not be as many rounds as come before the first look.
void require_first_look(const Config& cell, std::uint64_t rounds);
/// Throws ConfigError for a metric that is not among those that have an interval in the cell.
void require_interval(const Config& cell, const std::vector<Metric>& known);
/// Throws ConfigError for experiments that simulate what "trials" and "length" say.
[[noreturn]] void refuse_until(const Config& cell);
/// For verbs that do not run a config's simulation: throws ConfigError when it is to go on until an interval
/// is narrow. `what` says who does what: "check tests as many sequences as check.samples says".
void refuse_until(const Config& config, const std::string& what);

}  // namespace speclab
