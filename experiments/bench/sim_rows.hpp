// What was measured, as rows of `speclab bench sim`'s result.
#pragma once

#include <string>

#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/workloads.hpp"
#include "experiments/format/shape.hpp"

namespace speclab {

/// What making a pair took: seconds, sizes in bytes.
Json preparation_json(const std::string& name, const ModelPair& pair);

/// A workload and what it did, which is the same in each repetition.
struct Measured {
  BenchWorkload workload;
  const ModelPair* pair;  ///< null without one
  Tally tally;
  FastWork work;
};

/// Rates, counts a token and sizes; keys that do not apply are left out.
Json workload_json(const Measured& measured, const Timing& timing);

/// Adds to a row of one thread of the fast or i.i.d. engine what the limits give for it, in nanoseconds a
/// token. `in_flight_ns` belongs to tables of this row's size.
void add_bound(Json& row, double block_ns, double in_flight_ns);

/// Tokens per second of the row of that name; NaN without such a row.
double rate_of(const Json& rows, const std::string& name);

/// Rows that are another with something changed ("PAIR: 1 lane") against that other: "name", "ratio".
Json comparisons(const Json& rows);

}  // namespace speclab
