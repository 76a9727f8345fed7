// What a target and its draft cost, as a config and the options of `speclab plan` say it.
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/roofline.hpp"
#include "experiments/base/format/fields.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

/// Two models on a device, by the roofline, or measured times of both. The keys of both forms, with every
/// default. Texts are empty where nothing is given.
struct PairCosts {
  std::string target;  ///< a preset, or a config.json
  std::string draft;
  std::string device;
  std::string dtype = "bf16";
  int devices = 1;
  std::optional<int> draft_devices;
  std::optional<double> routing_exponent;
  double bandwidth_efficiency = Machine{}.bandwidth_efficiency;
  double flops_efficiency = Machine{}.flops_efficiency;
  double run_overhead_us = 1e6 * Machine{}.run_overhead;
  double layer_overhead_us = 1e6 * Machine{}.layer_overhead;
  double reduce_latency_us = 1e6 * Machine{}.reduce_latency;
  std::string target_times;  ///< a file
  std::string draft_times;
  std::optional<double> c;  ///< time of a draft run / time of a plain target run
  std::optional<DraftMethod> method;
};

/// Every key, none of them required.
const Typed<PairCosts>& pair_costs_type();
/// The keys of one form: two models on a device, or measured times.
enum class CostForm { models, times };
const Typed<PairCosts>& pair_costs_type(CostForm form);

/// The target and its draft; without anything that drafts, a draft that takes no time. c is a part of a plain
/// target run `at` a batch and a context. With the method mtp and no draft the target's own modules draft.
/// Throws ConfigError, with the path of the key below `path`, for names that are unknown and for keys that
/// contradict one another, and UsageError for a file that cannot be read.
PlannedPair planned_pair(const PairCosts& costs, const std::string& path, const Operation& at);
/// Whether these say what drafting costs.
bool has_draft(const PairCosts& costs);

}  // namespace speclab
