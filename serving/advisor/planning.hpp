// Makes the plan for one drafter: from its acceptance and its cost to gamma.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/cost_model.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/plan_result.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

/// Knowledge about acceptance, and where it comes from.
struct Acceptance {
  Interval alpha{0, 0, 0};                 ///< low = high if alpha was given without an error
  std::string from;                        ///< "given", "log", "the models, exactly", "simulation"
  std::optional<AcceptanceFile> log = {};  ///< a log, or a simulation's rounds as totals
  int longest_logged = 0;                  ///< longest draft in a server's log; 0 without a log
  std::optional<std::string> note = {};    ///< how alpha was read, if it could be read in another way
};

/// Returns the acceptance in a log, by maximum likelihood. For a log of means it uses the i.i.d. formula,
/// with lines of means as stretches.
Acceptance logged_acceptance(AcceptanceFile log, double confidence);

struct Drafter : PlannedPair {
  Acceptance acceptance;
  std::string name = {};  ///< name by the user; empty: the name that servers use
};

struct PlanSettings {
  Operation at;
  int max_gamma = 64;
  /// The gamma that the user asks about, at most max_gamma; its speedup is shown beside the best. Planning
  /// throws UsageError if the drafter cannot draft so many tokens.
  std::optional<int> asked_gamma = {};
  int max_batch = 512;
  double memory_share = 0.9;  ///< share of the device's memory for weights and caches
  double confidence = 0.95;
};

/// Makes the plan, still without settings of servers.
DrafterPlan make_plan(const Drafter& drafter, const PlanSettings& settings);

/// Returns the settings of servers that carry out the plan of this pair; none if speculation does not fit or
/// does not pay.
std::vector<ServerSetting> drafter_settings(const PlannedPair& pair, const DrafterPlan& plan);

/// Ranks drafters, each with settings of servers: those that fit first, then the others; within each group
/// the fastest first.
DrafterRanking rank_drafters(const std::vector<Drafter>& drafters, const PlanSettings& settings);

}  // namespace speclab
