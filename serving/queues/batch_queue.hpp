// A server that decodes a batch of requests, small enough to be solved: its mean latency under a table of
// gammas, and the table of the least latency, as a semi-Markov decision process (Puterman 1994, chapter 11).
#pragma once

#include <cstdint>
#include <vector>

#include "serving/server/step_work.hpp"

namespace speclab {

/// Requests arrive as a Poisson process, read their prompt in one step, which emits the first token, and have
/// outputs of geometric length; rounds are alike. The state before a step is therefore the number of decoding
/// requests and of waiting ones. Times of steps do not depend on contexts.
struct BatchQueue {
  double arrivals_per_ms = 0;
  std::uint32_t batch = 1;   ///< requests in a step
  std::uint32_t prompt = 1;  ///< tokens
  double mean_output = 1;    ///< tokens
  std::uint32_t max_gamma = 0;
  std::vector<double> survival{};  ///< P[the first j drafted tokens are accepted], j = 1..; 0 beyond
  StepTime time{};
  std::uint32_t max_waiting = 100;  ///< more are turned away: a bound of the computation, see `turned_away`
};

/// gamma[decoding][waiting], with 0 <= decoding <= batch and 0 <= waiting <= max_waiting.
using GammaByState = std::vector<std::vector<std::uint32_t>>;

struct QueueSolution {
  GammaByState gamma;
  double in_system = 0;    ///< mean number of requests, over time
  double latency_ms = 0;   ///< in_system over the rate of those admitted (Little 1961)
  double utilisation = 0;  ///< share of time in steps
  double turned_away = 0;  ///< share of arrivals beyond `max_waiting`: the error of the bound
};

/// The mean of a given table, by the stationary law of the states before steps.
QueueSolution evaluate(const BatchQueue& queue, const GammaByState& gamma);

/// The table of the least mean number of requests in the system, by policy iteration from gamma = 0; of equal
/// gammas the smallest.
QueueSolution least_latency(const BatchQueue& queue);

/// The same gamma in every state.
GammaByState constant_gamma(const BatchQueue& queue, std::uint32_t gamma);

}  // namespace speclab
