// Plans gamma for one drafter from its acceptance and cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/cost_model.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/plan_result.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

/// Acceptance, and where its value comes from.
struct Acceptance {
  Interval alpha{0, 0, 0};  ///< low = high if alpha was given without an error
  std::string from;         ///< "given", "log"
  std::optional<AcceptanceFile> log = {};
  std::optional<std::string> note = {};  ///< how alpha was interpreted, if there are other ways
};

/// Returns a log's acceptance by maximum likelihood. For a log of means, uses the i.i.d. formula and takes
/// its lines as independent.
Acceptance logged_acceptance(AcceptanceFile log, double confidence);

struct Drafter : PlannedPair {
  Acceptance acceptance;
};

struct PlanSettings {
  Operation at;
  int max_gamma = 64;
  int max_batch = 512;
  double memory_share = 0.9;  ///< share of the device's memory for weights and caches
  double confidence = 0.95;
};

/// Throws ConfigError for what engines do not run: a target whose heads the devices of a replica cannot share
/// evenly, a draft model with other tokens, and a context beyond a model's longest; and for measured times
/// without those of a run over one token, by which all others are divided.
void refuse_unservable(const CostPair& costs, const std::string& path, double context);

/// Makes the plan, still without settings of servers.
DrafterPlan make_plan(const Drafter& drafter, const PlanSettings& settings);

/// Returns the settings of servers that carry out the plan of this pair; none if it does not fit or pay.
std::vector<ServerSetting> drafter_settings(const PlannedPair& pair, const DrafterPlan& plan);

}  // namespace speclab
