#include "analysis/cost/speculation_cost.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <variant>

#include "analysis/theory/theorems.hpp"

namespace speclab {

namespace {

void change(CostModel& cost, double bandwidth, double flops, double overheads) {
  auto* const roofline = std::get_if<RooflineCost>(&cost);
  if (roofline == nullptr) return;
  Machine& machine = roofline->machine;
  machine.bandwidth_efficiency = std::min(machine.bandwidth_efficiency * bandwidth, 1.0);
  machine.flops_efficiency = std::min(machine.flops_efficiency * flops, 1.0);
  machine.run_overhead *= overheads;
  machine.layer_overhead *= overheads;
  machine.reduce_latency *= overheads;
}

RunWork scaled(const RunWork& work, double times) { return {times * work.flops, times * work.bytes}; }

RunWork drafting_work(const RooflineCost& draft, double gamma, const Operation& at) {
  if (gamma == 0) return {};
  const bool in_one = draft.model.drafts_in_one_run();
  const RunWork run = work(draft.machine, draft.model, {in_one ? gamma : 1, at.batch, at.context});
  return in_one ? run : scaled(run, gamma);
}

}  // namespace

DraftRuns draft_runs(const CostPair& costs) {
  const auto* const draft = std::get_if<RooflineCost>(&costs.draft);
  if (draft == nullptr) return costs.stated;
  return draft->model.drafts_in_one_run() ? DraftRuns::a_round : DraftRuns::a_token;
}

double drafting_ms(const CostPair& costs, double gamma, const Operation& at) {
  if (gamma == 0) return 0;
  if (draft_runs(costs) == DraftRuns::a_round) return run_ms(costs.draft, {gamma, at.batch, at.context});
  return gamma * run_ms(costs.draft, {1, at.batch, at.context});
}

double reading_ms(const CostPair& costs, const Run& run) {
  if (draft_runs(costs) == DraftRuns::a_token) return run_ms(costs.draft, run);
  const auto* const draft = std::get_if<RooflineCost>(&costs.draft);
  constexpr double milli = 1000;
  return draft == nullptr ? 0 : milli * reading_time(draft->machine, draft->model, run).total();
}

double drafting_cost(const CostPair& costs, int gamma, const Operation& at) {
  if (gamma == 0) return 0;
  if (draft_runs(costs) == DraftRuns::a_token) return gamma * draft_cost(costs, at);
  return drafting_ms(costs, gamma, at) / run_ms(costs.target, {1, at.batch, at.context});
}

double draft_cost(const CostPair& costs, const Operation& at) {
  const Run one{1, at.batch, at.context};
  return run_ms(costs.draft, one) / run_ms(costs.target, one);
}

std::optional<int> drafted_in_one_run(const CostPair& costs, int gamma) {
  if (draft_runs(costs) == DraftRuns::a_token) return std::nullopt;
  return std::max(gamma, 1);
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
  std::vector<double> all;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const int gamma = static_cast<int>(i);
    all.push_back(tokens[i] / (drafting_cost(costs, gamma, at) + verify_cost(costs, gamma, at)));
  }
  return all;
}

std::optional<SpeedupRange> speedup_at_other_costs(double tokens, const CostPair& costs, int gamma,
                                                   const Operation& at) {
  if (gamma == 0 || !std::holds_alternative<RooflineCost>(costs.target)) return std::nullopt;
  const Run plain{1, at.batch, at.context};
  const double plain_ms = run_ms(costs.target, plain);
  SpeedupRange range{std::numeric_limits<double>::infinity(), 0};
  for (const double bandwidth : {0.8, 1.2}) {
    for (const double flops : {0.8, 1.2}) {
      for (const double overheads : {0.5, 2.0}) {
        CostPair other = costs;
        change(other.target, bandwidth, flops, overheads);
        change(other.draft, bandwidth, flops, overheads);
        if (auto* const constant = std::get_if<ConstantCost>(&other.draft))
          constant->ms *= run_ms(other.target, plain) / plain_ms;
        const double speedup = tokens / (drafting_cost(other, gamma, at) + verify_cost(other, gamma, at));
        range.low = std::min(range.low, speedup);
        range.high = std::max(range.high, speedup);
      }
    }
  }
  return range;
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
    if (tokens_per_round <= drafting_cost(costs, gamma, at) + verify_cost(costs, gamma, at)) return batch - 1;
  }
  return most;
}

TokenWork work_per_token(const RooflineCost& target, const RooflineCost& draft, int gamma,
                         double tokens_per_round, const Operation& at) {
  const RunWork verifying = work(target.machine, target.model, {gamma + 1.0, at.batch, at.context});
  const RunWork drafts = drafting_work(draft, gamma, at);
  const double tokens = at.batch * tokens_per_round;
  return {(verifying.bytes + drafts.bytes) / tokens, (verifying.flops + drafts.flops) / tokens,
          (energy(target.machine, verifying) + energy(draft.machine, drafts)) / tokens};
}

}  // namespace speclab
