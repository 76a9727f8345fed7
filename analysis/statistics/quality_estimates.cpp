#include "analysis/statistics/quality_estimates.hpp"

#include <algorithm>
#include <string>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

std::vector<Estimate> quality_estimates(const std::vector<Tally>& batches, double confidence,
                                        Independence independence) {
  std::vector<Estimate> all;
  const auto add = [&](std::string name, const std::optional<Interval>& interval) {
    if (interval) all.push_back({std::move(name), interval});
  };
  const auto mean = [&](std::string name, ContextSum RuleQuality::*sum) {
    add(std::move(name),
        context_mean(
            batches, [sum](const Tally& t) { return (t.quality.*sum).sum(); },
            [sum](const Tally& t) { return real((t.quality.*sum).contexts); }, confidence, independence));
  };
  // Without a draft there is no first position, and no bound for it.
  const auto starts = [](const Tally& t) { return t.quality.optimal_transport_bound.contexts > 0; };
  if (std::any_of(batches.begin(), batches.end(), starts)) {
    all.push_back({"first_token_acceptance",
                   acceptance_by_position(batches, 1, confidence, independence).front().unconditional});
  }
  mean("optimal_transport_bound", &RuleQuality::optimal_transport_bound);
  mean("tv_to_target", &RuleQuality::distance);
  // If divergences were tallied, they were tallied at every examined position.
  std::vector<double> excess;
  std::vector<double> examined;
  for (const Tally& t : batches) {
    excess.push_back(real(t.examined - t.accepted) - t.quality.divergence.sum());
    examined.push_back(real(t.quality.divergence.contexts));
  }
  add("regret", known_bounds(bounded_ratio_interval(excess, examined, {-1, 1}, confidence), independence));
  return all;
}

}  // namespace speclab
