// The plan for one drafter: what is known of its acceptance and its cost, and what follows for gamma.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/speculation_cost.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
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

std::string settings_text(const std::vector<ServerSetting>& settings);

Listing plan_text(const DrafterPlan& plan);
std::string plan_headline(const DrafterPlan& plan);
/// At which batches it pays, with the best gamma of each and with one gamma at all: sentences, one a line.
/// The plan has `batches`.
std::string batch_sentences(const DrafterPlan& plan);
/// Speedup by gamma; by batch where costs depend on it; acceptance by position of a log.
std::vector<Figure> plan_figures(const DrafterPlan& plan);

Listing ranking_text(const DrafterRanking& ranking);
std::string ranking_headline(const DrafterRanking& ranking);
/// Speedup by gamma of every drafter.
std::vector<Figure> ranking_figures(const DrafterRanking& ranking);

}  // namespace speclab
