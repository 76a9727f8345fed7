#include "analysis/recorded/policy_bounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "core/stop.hpp"

namespace speclab {

namespace {

/// Smaller state probabilities are dropped.
constexpr double negligible = 1e-16;

}  // namespace

PolicyWork policy_work(const Recording& recording, const StatePolicy& policy, RecordedRule rule) {
  const Survivals survivals_of(recording, rule);
  std::size_t most = 0;
  std::vector<std::size_t> gammas(policy.states);
  std::vector<std::vector<std::size_t>> next(policy.states);
  for (std::size_t state = 0; state < policy.states; ++state) {
    gammas[state] = policy.gamma(state);
    most = std::max(most, gammas[state]);
    for (std::size_t k = 0; k <= gammas[state]; ++k) next[state].push_back(policy.next(state, k));
  }
  PolicyWork work;
  std::vector<double> survivals;
  std::vector<double> exactly(most + 1);  // P(exactly k accepted) if more are drafted
  const std::size_t window = std::bit_ceil(most + 2);
  const std::size_t states = policy.states;
  for (const RecordedSequence& sequence : recording.sequences) {
    end_if_stopped();
    // The ring holds, for the next `window` positions t, the probability that a round starts at t in each
    // state.
    std::vector<double> ring(window * states);
    ring[0] = 1;
    for (std::size_t start = 0; start < sequence.count; ++start) {
      const std::size_t left = sequence.count - start;
      survivals_of.of(sequence.first + start, left, most, survivals);
      for (std::size_t k = 0; k + 1 < survivals.size(); ++k) exactly[k] = survivals[k] - survivals[k + 1];
      double* now = ring.data() + (start & (window - 1)) * states;
      for (std::size_t state = 0; state < states; ++state) {
        const double here = now[state];
        now[state] = 0;
        if (here < negligible) continue;
        const std::size_t gamma = gammas[state];
        work.rounds += here;
        work.drafted += here * static_cast<double>(gamma);
        const std::size_t end = std::min(gamma, left);
        const std::size_t* after = next[state].data();
        for (std::size_t k = 0; k < end; ++k) {
          ring[((start + k + 1) & (window - 1)) * states + after[k]] += here * exactly[k];
        }
        if (gamma < left) {
          ring[((start + gamma + 1) & (window - 1)) * states + after[gamma]] += here * survivals[gamma];
        }
      }
    }
  }
  return work;
}

double min_time_knowing_text(const Recording& recording, std::size_t most, double c, RecordedRule rule) {
  const Survivals survivals_of(recording, rule);
  double total = 0;
  std::vector<double> survivals;
  for (const RecordedSequence& sequence : recording.sequences) {
    end_if_stopped();
    std::vector<double> time(sequence.count + 1);  // expected time from each position on
    for (std::size_t start = sequence.count; start-- > 0;) {
      const std::size_t left = sequence.count - start;
      survivals_of.of(sequence.first + start, left, most, survivals);
      double best = std::numeric_limits<double>::infinity();
      double ended = 0;  // expected time after rounds that end by a correction
      for (std::size_t gamma = 0; gamma <= std::min(most, left); ++gamma) {
        const double after_bonus = gamma < left ? survivals[gamma] * time[start + gamma + 1] : 0;
        best = std::min(best, 1 + c * static_cast<double>(gamma) + ended + after_bonus);
        if (gamma < std::min(most, left)) {
          ended += (survivals[gamma] - survivals[gamma + 1]) * time[start + gamma + 1];
        }
      }
      time[start] = best;
    }
    total += time[0];
  }
  return total;
}

PolicyWork oracle_work(const GammaRounds& work) {
  return {std::accumulate(work.rounds.begin(), work.rounds.end(), 0.0),
          std::accumulate(work.kept.begin(), work.kept.end(), 0.0)};
}

}  // namespace speclab
