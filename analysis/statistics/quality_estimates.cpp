#include "analysis/statistics/quality_estimates.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace speclab {

std::vector<Estimate> quality_estimates(const std::vector<Tally>& batches, double confidence) {
  std::vector<Estimate> all;
  const auto add = [&](std::string name, const std::function<double(const Tally&)>& numerator,
                       const std::function<double(const Tally&)>& denominator) {
    std::vector<double> above;
    std::vector<double> below;
    for (const Tally& batch : batches) {
      above.push_back(numerator(batch));
      below.push_back(denominator(batch));
    }
    if (const auto interval = ratio_interval(above, below, confidence)) {
      all.push_back({std::move(name), interval});
    }
  };
  const auto mean = [&](std::string name, ContextSum RuleQuality::*sum) {
    add(
        std::move(name), [sum](const Tally& t) { return (t.quality.*sum).sum(); },
        [sum](const Tally& t) { return static_cast<double>((t.quality.*sum).contexts); });
  };
  // Without a draft there is no first position, nor a bound for it.
  const auto starts = [](const Tally& t) { return t.quality.optimal_transport_bound.contexts > 0; };
  if (std::any_of(batches.begin(), batches.end(), starts)) {
    all.push_back({"first_acceptance", acceptance_by_position(batches, 1, confidence).front().unconditional});
  }
  mean("optimum", &RuleQuality::optimal_transport_bound);
  mean("tv_to_target", &RuleQuality::distance);
  // Where divergences were tallied, that was at every examined position.
  add(
      "regret",
      [](const Tally& t) {
        return static_cast<double>(t.examined - t.accepted) - t.quality.divergence.sum();
      },
      [](const Tally& t) { return static_cast<double>(t.quality.divergence.contexts); });
  return all;
}

}  // namespace speclab
