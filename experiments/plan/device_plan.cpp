#include "experiments/plan/device_plan.hpp"

#include <algorithm>
#include <cmath>

namespace speclab {

namespace {

double fitting_batch(const Drafter& drafter, const PlanSettings& settings) {
  const auto& target = std::get<RooflineCost>(drafter.costs.target);
  const auto* draft = std::get_if<RooflineCost>(&drafter.costs.draft);
  return largest_batch(target.machine, target.model, draft == nullptr ? nullptr : &draft->model,
                       settings.at.context, settings.memory_share);
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace

int largest_planned_batch(const Drafter& drafter, const PlanSettings& settings) {
  double most = settings.max_batch;
  if (std::holds_alternative<RooflineCost>(drafter.costs.target)) {
    most = std::min(most, fitting_batch(drafter, settings));
  }
  return static_cast<int>(std::max({most, settings.at.batch, 1.0}));
}

Json device_plan(const Drafter& drafter, const PlanSettings& settings, int gamma, double tokens_per_round) {
  const auto* target = std::get_if<RooflineCost>(&drafter.costs.target);
  if (target == nullptr) return Json();
  const auto* draft = std::get_if<RooflineCost>(&drafter.costs.draft);
  const Run plain{1, settings.at.batch, settings.at.context};
  const RunTime time = run_time(target->machine, target->model, plain);
  const double verify_ms =
      run_ms(drafter.costs.target, {gamma + 1.0, settings.at.batch, settings.at.context});
  const double draft_ms = run_ms(drafter.costs.draft, plain);
  const double round_ms = verify_ms + gamma * draft_ms;
  Json out{{"name", target->machine.device.name},
           {"devices", target->machine.devices},
           {"source", target->machine.device.source},
           {"plain_ms", 1000 * time.total()},
           {"draft_ms", draft_ms},
           {"verify_ms", verify_ms},
           {"plain_tokens_per_second", settings.at.batch / time.total()},
           {"speculative_tokens_per_second", 1000 * settings.at.batch * tokens_per_round / round_ms},
           {"compute_bound", time.compute_bound()},
           {"intensity", work(target->model, plain, target->machine.precision).intensity()},
           {"balance",
            peak_flops(target->machine) / (target->machine.devices * target->machine.device.bandwidth)}};

  const double weight_bytes = target->machine.precision.weight_bytes;
  out["memory"] = Json{
      {"target_weights", parameters(target->model) * weight_bytes},
      {"draft_weights", draft == nullptr ? Json() : Json(parameters(draft->model) * weight_bytes)},
      {"cache_per_sequence",
       cache_bytes(target->model, settings.at.context, target->machine.precision) +
           (draft == nullptr ? 0 : cache_bytes(draft->model, settings.at.context, draft->machine.precision))},
      {"usable", settings.memory_share * target->machine.devices * target->machine.device.memory},
      {"largest_batch", finite(fitting_batch(drafter, settings))}};
  out["bytes_per_token"] = Json();
  out["joules_per_token"] = Json();
  if (draft != nullptr) {
    const TokenWork before = work_per_token(*target, *draft, 0, 1, settings.at);
    const TokenWork after = work_per_token(*target, *draft, gamma, tokens_per_round, settings.at);
    out["bytes_per_token"] = Json::array({before.bytes, after.bytes});
    out["joules_per_token"] = Json::array({before.joules, after.joules});
  }
  return out;
}

}  // namespace speclab
