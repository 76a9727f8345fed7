// The families of the section "serving": acceptance laws, policies of gamma, and step costs. Each kind is an
// entry in acceptance_kinds.cpp, policy_kinds.cpp or cost_kinds.cpp.
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

struct AcceptanceRequest {
  std::optional<double> alpha;  ///< the config's alpha
  std::uint32_t gamma = 0;
  std::uint32_t max_drafted = 0;  ///< the policy's longest draft
};
struct AcceptanceKind : KindInfo {
  struct Common {};
  /// Makes the law. Throws ConfigError for parameters that define no law.
  std::function<AcceptanceLaw(const SelectedKind& selected, const AcceptanceRequest& request)> make;
  bool of_one_gamma = false;  ///< holds only for drafts of "gamma" tokens
  bool of_alpha = false;      ///< reads the config's alpha
  /// Returns the number of positions whose acceptance is known; null if all are.
  std::function<std::uint32_t(const SelectedKind& selected)> positions = {};
};
Family<AcceptanceKind>& acceptance_family();

struct StepPolicyRequest {
  std::uint32_t gamma;
  const AcceptanceLaw& law;
  const StepTime& time;
};
struct StepPolicyKind : KindInfo {
  struct Common {};
  /// Throws ConfigError if the policy cannot serve the section.
  std::function<StepPolicy(const SelectedKind& selected, const StepPolicyRequest& request)> make;
  /// Returns the policy's longest draft; null: gamma.
  std::function<std::uint32_t(const SelectedKind& selected)> max_drafted = nullptr;
  bool verifies_part = false;  ///< does not verify every drafted token
};
Family<StepPolicyKind>& step_policy_family();

/// Step costs that follow from a pair's costs.
struct PairStepCosts : PairCosts {
  double step_ms = 0;
  bool idle_draft = true;  ///< the draft also runs at gamma = 0
};
struct StepCostKind : KindInfo {
  struct Common {};
  /// Throws ConfigError if steps take no time, or if a longest draft of `gamma` > 0 tokens has no draft.
  std::function<StepTime(const SelectedKind& selected, std::uint32_t gamma)> make;
  bool of_pair = false;  ///< parameters are of type PairStepCosts
};
Family<StepCostKind>& step_cost_family();

/// The operation that c refers to: a target run of one sequence with this many tokens before it.
inline constexpr Operation served_operation{1, 1024};

template <class Entry>
Selected<Entry> kind_named(Family<Entry>& family, const char* name) {
  return selected(*family.find_entry(name));
}

}  // namespace speclab
