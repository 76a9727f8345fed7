// Room (view) 3 for a device: the plan of `speclab plan alpha --device` by the roofline, for one batch and
// for all batches.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "explorer/engine/record.hpp"
#include "serving/advisor/planning.hpp"
#include "serving/advisor/presets.hpp"

namespace speclab::explorer {

/// Lists devices and models. A head is no model of its own: it drafts for one target.
inline void list_presets(Record& out) {
  out.texts("devices", device_presets(), [](const auto& preset) { return preset.name; });
  std::vector<Transformer> models = model_presets();
  std::erase_if(models, [](const Transformer& model) { return model.is_head(); });
  out.texts("models", models, [](const auto& preset) { return preset.name; });
  out.list("vocabularies", models, &Transformer::vocab);
  out.list("parameters", models, [](const Transformer& model) { return parameters(model); });
}

struct DeviceTask {
  double alpha = 0;
  std::string device;
  std::string target;
  std::string draft;
  int devices = 1;
  double batch = 1;
  double context = 0;
};

namespace detail {

template <class Preset>
const Preset& preset_named(const std::vector<Preset>& presets, const std::string& name) {
  const auto found =
      std::find_if(presets.begin(), presets.end(), [&](const Preset& one) { return one.name == name; });
  if (found == presets.end()) throw std::invalid_argument("no device or model \"" + name + "\"");
  return *found;
}

}  // namespace detail

/// Writes the plan under the names of the program's --json.
inline void plan_on_device(const DeviceTask& task, Record& out) {
  Machine machine;
  machine.device = detail::preset_named(device_presets(), task.device);
  machine.devices = task.devices;
  const Transformer& target = detail::preset_named(model_presets(), task.target);
  const Transformer& draft = detail::preset_named(model_presets(), task.draft);
  PlanSettings settings;
  settings.at = {task.batch, task.context};
  const auto cost_of = [&](const Transformer& model) {
    Machine stored = machine;
    stored.precision = precision_of(model, machine.precision);
    return RooflineCost{stored, model};
  };
  const Drafter drafter{
      {.draft = task.draft, .costs = {cost_of(target), cost_of(draft)}, .cost_from = "roofline"},
      {{task.alpha, task.alpha, task.alpha}, "given"}};
  refuse_unservable(drafter.costs, "", task.context);
  const DrafterPlan plan = make_plan(drafter, settings);
  out.number("c", plan.costs.c);
  out.number("best_gamma", plan.best.gamma);
  out.number("best_speedup", plan.best.speedup.estimate);
  out.number("tokens_per_target_step", plan.best.tokens_per_target_step);
  out.text("reason", plan.best.reason);
  out.list("gamma", plan.gammas, &GammaRow::gamma);
  out.list("speedup", plan.gammas, [](const GammaRow& row) { return row.speedup.estimate; });
  out.list("verify_cost", plan.gammas, &GammaRow::verify_cost);
  const auto batches = plan.batches.value_or(std::vector<BatchRange>());
  out.list("batch_first", batches, &BatchRange::first);
  out.list("batch_last", batches, &BatchRange::last);
  out.list("batch_gamma", batches, &BatchRange::gamma);
  out.list("batch_speedup", batches, &BatchRange::min_speedup);
  if (plan.batch_limit) out.number("batch_limit", *plan.batch_limit);
  if (plan.device) {
    out.number("plain_ms", plan.device->plain_ms);
    out.number("draft_ms", plan.device->draft_ms);
    out.number("verify_ms", plan.device->verify_ms);
    out.number("plain_tokens_per_second", plan.device->plain_tokens_per_second);
    out.number("speculative_tokens_per_second", plan.device->speculative_tokens_per_second);
    // Negative if the weights do not fit; none if any batch fits.
    if (plan.device->memory.largest_batch) out.number("largest_batch", *plan.device->memory.largest_batch);
  }
}

}  // namespace speclab::explorer
