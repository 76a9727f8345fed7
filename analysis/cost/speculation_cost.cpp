#include "analysis/cost/speculation_cost.hpp"

#include <algorithm>
#include <cstddef>

#include "analysis/theory/theorems.hpp"

namespace speclab {

double draft_cost(const CostPair& costs, const Operation& at) {
  const Run one{1, at.batch, at.context};
  return run_ms(costs.draft, one) / run_ms(costs.target, one);
}

double verify_cost(const CostPair& costs, int gamma, const Operation& at) {
  return run_ms(costs.target, {gamma + 1.0, at.batch, at.context}) /
         run_ms(costs.target, {1, at.batch, at.context});
}

std::vector<double> iid_tokens(double alpha, int most) {
  std::vector<double> tokens;
  for (int gamma = 0; gamma <= most; ++gamma) tokens.push_back(expected_tokens(alpha, gamma));
  return tokens;
}

std::vector<double> speedups(std::span<const double> tokens, const CostPair& costs, const Operation& at) {
  const double c = draft_cost(costs, at);
  std::vector<double> all;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const int gamma = static_cast<int>(i);
    all.push_back(tokens[i] / (gamma * c + verify_cost(costs, gamma, at)));
  }
  return all;
}

std::vector<BatchRange> gamma_by_batch(std::span<const double> tokens, const CostPair& costs, double context,
                                       int most) {
  std::vector<BatchRange> ranges;
  for (int batch = 1; batch <= most; ++batch) {
    const std::vector<double> here = speedups(tokens, costs, {double(batch), context});
    const auto best = std::max_element(here.begin(), here.end());
    const int gamma = static_cast<int>(best - here.begin());
    if (ranges.empty() || ranges.back().gamma != gamma) {
      ranges.push_back({batch, batch, gamma, *best});
    } else {
      ranges.back().last = batch;
      ranges.back().least_speedup = std::min(ranges.back().least_speedup, *best);
    }
  }
  return ranges;
}

int batch_limit(double tokens_per_round, int gamma, const CostPair& costs, double context, int most) {
  for (int batch = 1; batch <= most; ++batch) {
    const Operation at{double(batch), context};
    if (tokens_per_round <= gamma * draft_cost(costs, at) + verify_cost(costs, gamma, at)) return batch - 1;
  }
  return most;
}

TokenWork work_per_token(const RooflineCost& target, const RooflineCost& draft, int gamma,
                         double tokens_per_round, const Operation& at) {
  const RunWork verifying = work(target.model, {gamma + 1.0, at.batch, at.context}, target.machine.precision);
  const RunWork drafting = work(draft.model, {1, at.batch, at.context}, draft.machine.precision);
  const double tokens = at.batch * tokens_per_round;
  return {(verifying.bytes + gamma * drafting.bytes) / tokens,
          (verifying.flops + gamma * drafting.flops) / tokens,
          (energy(target.machine, verifying) + gamma * energy(draft.machine, drafting)) / tokens};
}

}  // namespace speclab
