// The families of the section "serving": laws of acceptance, policies of gamma, and costs of a step. A kind
// is one entry in acceptance_kinds.cpp, policy_kinds.cpp or cost_kinds.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "experiments/base/format/family.hpp"
#include "serving/advisor/pair_costs.hpp"
#include "serving/queues/step_time.hpp"
#include "serving/server/acceptance_law.hpp"
#include "serving/server/step_policies.hpp"

namespace speclab {

struct ServingSection;

struct AcceptanceRequest {
  std::optional<double> alpha;  ///< of the config
  std::uint32_t gamma = 0;
  std::uint32_t max_drafted = 0;  ///< the longest draft of the policy
};
struct AcceptanceKind : KindInfo {
  struct Common {};
  /// Throws ConfigError for parameters that make no law.
  std::function<AcceptanceLaw(const SelectedKind& selected, const AcceptanceRequest& request)> make;
  bool of_one_gamma = false;  ///< it is stated for drafts of "gamma" tokens alone
};
Family<AcceptanceKind>& acceptance_family();

struct StepPolicyRequest {
  std::uint32_t gamma;
  const AcceptanceLaw& law;
  const StepTime& time;
  const ServingSection& section;
};
struct StepPolicyKind : KindInfo {
  struct Common {};
  /// Throws ConfigError where the policy cannot serve the section.
  std::function<StepPolicy(const SelectedKind& selected, const StepPolicyRequest& request)> make;
  /// The longest draft; null: gamma.
  std::function<std::uint32_t(const SelectedKind& selected)> max_drafted = nullptr;
  bool verifies_part = false;  ///< not every drafted token is verified
  bool ahead = false;          ///< decides a step before, so that a draft device can draft for it
};
Family<StepPolicyKind>& step_policy_family();

/// How long steps take: of one device, and of a target and a draft on devices of their own.
struct StepTimes {
  StepTime step;
  StepTime target;  ///< without its drafts
  StepTime draft;
};
StepTimes step_times(const CostPair& costs, const StepExtras& extras);

/// Costs of a step by those of a pair of models.
struct PairStepCosts : PairCosts {
  double step_ms = 0;
  bool idle_draft = true;  ///< the draft runs at gamma = 0, too
};
struct StepCostKind : KindInfo {
  struct Common {};
  /// Throws ConfigError where a step takes no time, and where the draft is missing with gamma above 0.
  std::function<StepTimes(const SelectedKind& selected, std::uint32_t gamma)> make;
  bool of_pair = false;  ///< the parameters are PairStepCosts
};
Family<StepCostKind>& step_cost_family();

/// The pair of such costs. c is a part of a target run of one sequence with this many tokens before it.
inline constexpr Operation served_operation{1, 1024};

template <class Entry>
Selected<Entry> kind_named(Family<Entry>& family, const char* name) {
  return selected(*family.find_entry(name));
}

}  // namespace speclab
