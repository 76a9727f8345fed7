// The plan for one drafter: what is known of its acceptance and its cost, and what follows for gamma.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/speculation_cost.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "serving/advisor/acceptance_file.hpp"
#include "serving/advisor/plan_result.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

/// What is known of acceptance.
struct Acceptance {
  Interval alpha{0, 0, 0};                 ///< low = high when alpha was given without an error
  std::string from;                        ///< "given", "log", "the models, exactly", "simulation"
  std::optional<AcceptanceFile> log = {};  ///< of a log, or of a simulation's rounds (as totals)
  int longest_logged = 0;                  ///< draft of a server's log; 0 without one
  std::optional<std::string> note = {};    ///< how alpha was read, where it may be meant otherwise
};

/// By maximum likelihood; of a log of means by the i.i.d. formula, with lines of means as stretches.
Acceptance logged_acceptance(AcceptanceFile log, double confidence);

struct Drafter : PlannedPair {
  Acceptance acceptance;
  std::string name = {};  ///< as the user calls it; empty: as servers do
};

struct PlanSettings {
  Operation at;
  int max_gamma = 64;
  /// At most max_gamma; its speedup is given beside the best. UsageError above what the drafter can draft.
  std::optional<int> asked_gamma = {};
  int max_batch = 512;
  double memory_share = 0.9;  ///< of the device, for weights and caches
  double confidence = 0.95;
};

DrafterPlan make_plan(const Drafter& drafter, const PlanSettings& settings);

/// Those that fit before those that do not, the fastest first.
DrafterRanking rank_drafters(const std::vector<Drafter>& drafters, const PlanSettings& settings);

}  // namespace speclab
