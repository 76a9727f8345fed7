// A batching server that is small enough to solve exactly, beside which the simulated server and its policies
// are tested: its mean latency under a table of gammas, and the table with the least latency, by a
// semi-Markov decision process (Puterman 1994, chapter 11).
#pragma once

#include <cstdint>
#include <vector>

#include "serving/server/step_work.hpp"

namespace speclab {

/// Requests arrive as a Poisson process. One step reads a prompt and emits the first token; output lengths
/// are geometric; rounds are identically distributed. So the state before a step is the numbers of decoding
/// and of waiting requests. A step's time does not depend on contexts.
struct BatchQueue {
  double arrivals_per_ms = 0;
  std::uint32_t batch = 1;   ///< most requests in a step
  std::uint32_t prompt = 1;  ///< tokens
  double mean_output = 1;    ///< tokens
  std::uint32_t max_gamma = 0;
  std::vector<double> survival{};  ///< P[first j drafted tokens are accepted], j = 1, 2, ...; 0 beyond
  StepTime time{};
  /// Further arrivals are rejected, which bounds the computation; see `turned_away`.
  std::uint32_t max_waiting = 100;
};

/// gamma[decoding][waiting], with 0 <= decoding <= batch and 0 <= waiting <= max_waiting.
using GammaByState = std::vector<std::vector<std::uint32_t>>;

struct QueueSolution {
  GammaByState gamma;
  double in_system = 0;    ///< mean number of requests
  double latency_ms = 0;   ///< in_system divided by the rate of admitted requests (Little 1961)
  double utilisation = 0;  ///< share of time in steps
  double turned_away = 0;  ///< share of arrivals rejected by `max_waiting`: the error of the bound
};

/// Computes the means under a given table, from the stationary distribution of states before steps.
QueueSolution evaluate(const BatchQueue& queue, const GammaByState& gamma);

/// Returns the table with the fewest requests in the system on average, by policy iteration from gamma = 0;
/// among equally good gammas the smallest.
QueueSolution min_latency(const BatchQueue& queue);

/// Returns a table with the same gamma in every state.
GammaByState constant_gamma(const BatchQueue& queue, std::uint32_t gamma);

}  // namespace speclab
