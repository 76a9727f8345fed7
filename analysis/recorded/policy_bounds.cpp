#include "analysis/recorded/policy_bounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/stop.hpp"

namespace speclab {

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
