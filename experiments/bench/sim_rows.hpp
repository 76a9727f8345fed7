// Rows of `speclab bench sim` from what was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/sim_result.hpp"
#include "experiments/bench/workloads.hpp"

namespace speclab {

PreparationRow preparation_row(const std::string& name, const ModelPair& pair);

/// A workload and what it did, which is the same in each repetition.
struct Measured {
  BenchWorkload workload;
  const ModelPair* pair;  ///< null without one
  Tally tally;
  FastWork work;
};

/// Rates, counts a token and sizes.
WorkloadRow workload_row(const Measured& measured, const Timing& timing);

/// What the limits give for a row of one thread of the fast or i.i.d. engine. `in_flight_ns` belongs to
/// tables of this row's size.
TimeBound time_bound(const WorkloadRow& row, double block_ns, double in_flight_ns);

/// Tokens per second of the row of that name; none without such a row.
std::optional<double> rate_of(const std::vector<WorkloadRow>& rows, const std::string& name);

/// Rows that are another with something changed ("PAIR: 1 stream") against that other.
std::vector<RatioRow> comparisons(const std::vector<WorkloadRow>& rows);

}  // namespace speclab
