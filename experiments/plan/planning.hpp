// The plan for one drafter: what is known of its acceptance and its cost, and what follows for gamma.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/speculation_cost.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "experiments/format/shape.hpp"
#include "experiments/plan/acceptance_file.hpp"

namespace speclab {

/// What is known of acceptance.
struct Acceptance {
  Interval alpha{0, 0, 0};                 ///< low = high when alpha was given without an error
  std::string from;                        ///< "given", "log", "the models, exactly", "simulation"
  std::optional<AcceptanceFile> log = {};  ///< of a log, or of a simulation's rounds (as totals)
};

struct Drafter {
  std::string name;  ///< as servers would know it, or as the user calls it; may be empty
  Acceptance acceptance;
  CostPair costs;
  std::string cost_from;  ///< "given", "measured", "roofline"
};

struct PlanSettings {
  Operation at;
  int max_gamma = 64;
  std::optional<int> asked_gamma = {};  ///< at most max_gamma; its speed is given beside the best
  int max_batch = 512;
  double memory_share = 0.9;  ///< of the device, for weights and caches
  double confidence = 0.95;
  std::string target;  ///< as servers know it; may be empty
  bool by_lookup = false;
};

/// The plan as JSON, from which plan_text is written:
///   drafter, alpha {estimate, low, high, from}, costs {c, from, batch, context}
///   best        {gamma, speed [estimate, low, high], tokens_per_round, by, reason, within_1_percent}
///   asked       {gamma, speed [estimate, low, high], by, loss_percent, batch_limit}; null unless asked for
///   gammas      rows {gamma, tokens, speed, low, high, verify_cost} around the best
///   bounds      {guaranteed, oracle_uncharged, oracle_charged, adaptive_gain}
///   advice      sentences
///   log         the tests of a log and its positions; null without one
///   batches     rows {first, last, gamma, least_speedup}; null when costs do not depend on the batch
///   batch_limit the largest batch at which the best gamma, kept fixed, still pays; null as above
///   device      times, memory, traffic and energy by the roofline; null without one
///   settings    rows {server, checked, lines}; empty when speculation does not pay
/// Numbers without a value are null.
Json make_plan(const Drafter& drafter, const PlanSettings& settings);

/// One row a drafter, the fastest first.
Json rank_drafters(const std::vector<Drafter>& drafters, const PlanSettings& settings);

std::string plan_text(const Json& plan);
std::string ranking_text(const Json& ranking);

}  // namespace speclab
