// Full servers: what limits a policy, which rates to simulate, and which layout of the devices serves most.
#pragma once

#include <vector>

#include "serving/study/load_plan.hpp"
#include "serving/study/load_policies.hpp"

namespace speclab {

struct FullServer {
  double capacity = 0;  ///< requests per second
  double running = 0;   ///< mean number of requests that a replica runs
};
/// Simulates the full server of each candidate, in parallel.
std::vector<FullServer> full_servers(const LoadQuestion& question,
                                     const std::vector<LoadCandidate>& candidates, const Control& control);

/// Returns ten rates up to 90% of this capacity.
std::vector<double> rates_below(double capacity);

/// Returns the limit of the policy that is recommended at the highest rate or, if none is, of the one with
/// the largest capacity. `full` has the plan's policies, in their order.
LoadLimit limit_of(const LoadQuestion& question, const LoadPlan& plan, const std::vector<FullServer>& full,
                   const Control& control);

}  // namespace speclab
