// The section "models" of a server: two models on a device, by the roofline.
#include <fmt/format.h>

#include "analysis/cost/presets.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "serving/study/serving_study.hpp"

namespace speclab {

namespace {

constexpr double micro = 1e-6;

template <class Preset>
const Preset& preset_named(const std::vector<Preset>& presets, const std::string& name, const char* key) {
  return named_entry(presets, name, [&](const std::string& near) {
    return ConfigError(fmt::format("/serving/models/{}", key), "unknown \"{}\"{}", name, near);
  });
}

}  // namespace

const Typed<ModelsSection>& serving_models_type() {
  using M = ModelsSection;
  static const auto type = object<M>(
      "serving models",
      "Two models on a device, named as `plan list models` and `plan list devices` have them.",
      {required(field("target", &M::target, text(), "The target.")),
       field("draft", &M::draft, text(), "The draft; may be left out where gamma is 0."),
       required(field("device", &M::device, text(), "The device.")),
       field("dtype", &M::dtype, text(), "bf16, fp16, fp8, int8, or int4 (weights only); caches are 16-bit."),
       integer_field("devices", &M::devices, 1, 1024, "Devices in tensor parallel."),
       integer_field("draft_devices", &M::draft_devices, 1, 1024, "Those of the draft; else as the target."),
       field(
           "routing_exponent", &M::routing_exponent, number(0, 1),
           "Of models with experts: n tokens of a sequence touch the experts of n^exponent independent ones; 1: independent routing."),
       field("bandwidth_efficiency", &M::bandwidth_efficiency, number(0.01, 1),
             "Share of the bandwidth to be had (assumed)."),
       field("flops_efficiency", &M::flops_efficiency, number(0.01, 1),
             "Share of the peak FLOP/s to be had (assumed)."),
       field("run_overhead_us", &M::run_overhead_us, number(0, 1e6),
             "Microseconds a run: launch, sampling, host (assumed)."),
       field("layer_overhead_us", &M::layer_overhead_us, number(0, 1e6), "Microseconds a layer (assumed)."),
       field("reduce_latency_us", &M::reduce_latency_us, number(0, 1e6),
             "Microseconds an all-reduce, besides its bytes (assumed)."),
       field("step_ms", &M::step_ms, number(0, 1e6), "Scheduler and host, milliseconds of every step."),
       field("idle_draft", &M::idle_draft, boolean(),
             "The draft runs once where a policy drafts nothing, to keep its cache whole.")});
  return type;
}

CostPair costs_of(const ModelsSection& models, int gamma) {
  Machine machine;
  machine.device = preset_named(device_presets(), models.device, "device");
  machine.devices = models.devices;
  machine.precision = preset_named(precision_presets(), models.dtype, "dtype").precision;
  machine.bandwidth_efficiency = models.bandwidth_efficiency;
  machine.flops_efficiency = models.flops_efficiency;
  machine.run_overhead = micro * models.run_overhead_us;
  machine.layer_overhead = micro * models.layer_overhead_us;
  machine.reduce_latency = micro * models.reduce_latency_us;
  const auto model = [&](const std::string& name, const char* key) {
    Transformer found = preset_named(model_presets(), name, key);
    found.routing_exponent = models.routing_exponent;
    return found;
  };
  const Transformer target = model(models.target, "target");
  if (target.is_head())
    throw ConfigError("/serving/models/target", "{} is a draft head, no model", models.target);
  CostPair costs{RooflineCost{machine, target}, ConstantCost{0}};
  if (models.draft.empty()) {
    if (gamma > 0) throw ConfigError("/serving/models/draft", "missing; \"gamma\" is above 0");
  } else {
    if (models.draft_devices) machine.devices = *models.draft_devices;
    costs.draft = RooflineCost{machine, model(models.draft, "draft")};
  }
  const bool experts =
      target.experts > 1 || (!models.draft.empty() && model(models.draft, "draft").experts > 1);
  if (!experts && models.routing_exponent != Transformer{}.routing_exponent)
    throw ConfigError("/serving/models/routing_exponent", "{} has no experts", models.target);
  return costs;
}

}  // namespace speclab
