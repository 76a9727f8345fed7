// The costs of a target and its draft, as a config and the options of `speclab plan` state them.
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/roofline.hpp"
#include "experiments/base/format/fields.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

/// Either two models on a device, by the roofline, or measured times of both. It has the keys of both forms,
/// with every default. Texts are empty if not given.
struct PairCosts {
  std::string target;  ///< preset, or config.json
  std::string draft;
  std::string device;
  std::string dtype;  ///< empty: as the model's config.json says, or else bf16
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
  std::optional<double> c;  ///< time of a draft run / time of a plain target run
  std::optional<DraftMethod> method;
};

/// Returns the type with every key, none of them required.
const Typed<PairCosts>& pair_costs_type();
/// The form of costs, and so the keys: two models on a device, or measured times.
enum class CostForm { models, times };
const Typed<PairCosts>& pair_costs_type(CostForm form);

/// Returns the target and its draft; if nothing drafts, the draft takes no time. c is a fraction of a plain
/// target run `at` a batch and a context. With the method mtp and no draft, the target's own modules draft.
/// Throws ConfigError, with the path of the key below `path`, for unknown names and for keys that contradict
/// one another, and UsageError for a file that cannot be read.
PlannedPair planned_pair(const PairCosts& costs, const std::string& path, const Operation& at);
/// Returns whether these costs include the cost of drafting.
bool has_draft(const PairCosts& costs);

}  // namespace speclab
