// The costs of target and draft, as a config or options of `speclab plan` state them.
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/roofline.hpp"
#include "experiments/base/format/fields.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

/// Costs in one of two forms: two models on a device (roofline), or measured times. It has the keys of both,
/// with every default; texts are empty if not given.
struct PairCosts {
  std::string target;  ///< preset, or config.json
  std::string draft;
  std::string parameters;  ///< total or total,active of a target without a known shape
  std::optional<double> kv_bytes_per_token;
  std::string device;
  std::string dtype;        ///< empty: as the model's config.json says, or else bf16
  std::string draft_dtype;  ///< the same for the draft; else as dtype
  std::string cache_dtype;  ///< the same for both caches
  std::optional<int> recurrent_states;
  int devices = 1;
  std::optional<int> draft_devices;
  std::optional<double> routing_exponent;
  double bandwidth_efficiency = Machine{}.bandwidth_efficiency;
  double flops_efficiency = Machine{}.flops_efficiency;
  double run_overhead_us = 1e6 * Machine{}.run_overhead;
  double layer_overhead_us = 1e6 * Machine{}.layer_overhead;
  double reduce_latency_us = 1e6 * Machine{}.reduce_latency;
  std::string target_times;  ///< file
  std::string draft_times;
  std::optional<double> c;  ///< time of a draft run divided by that of a target run over one token
  std::optional<DraftMethod> method;
};

/// Describes all keys, none required.
const Typed<PairCosts>& pair_costs_type();
/// The form, which determines the keys: models on a device, or measured times.
enum class CostForm { models, times };
const Typed<PairCosts>& pair_costs_type(CostForm form);

/// Returns the pair; without a draft, drafting takes no time. c is a fraction of a target run over one token
/// `at` a batch and context. With method mtp and no draft, the target's own modules draft. Throws
/// ConfigError, with the key's path below `path`, for unknown names and contradictions, UsageError for files.
PlannedPair planned_pair(const PairCosts& costs, const std::string& path, const Operation& at);
/// Returns true if these costs include drafting. Looking up n-grams takes no time unless c is given.
bool has_draft(const PairCosts& costs);

}  // namespace speclab
