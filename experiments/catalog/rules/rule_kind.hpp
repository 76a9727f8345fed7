// The verification rules that a config or the command line can name. Each has an entry, whose file alone
// compiles its decoding and enumeration (rule_entry.hpp), and a line in all_rules.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/format/family.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

class Model;
struct RulePrograms;

/// When a rule is expected to be lossless. `speclab prove --all` checks it.
enum class ExpectedLossless { always, at_temperature_zero, never };

/// Input of a rule besides its parameters.
class RuleRequest {
 public:
  /// `gamma` is called only by rules that depend on it.
  explicit RuleRequest(std::function<std::int32_t()> gamma) : gamma_(std::move(gamma)) {}

  /// Returns the drafted tokens per round.
  std::int32_t gamma() const { return gamma_(); }

 private:
  std::function<std::int32_t()> gamma_;
};

/// The models and settings with which a rule's parameters may be measured.
struct RulePilot {
  const Model& target;
  const Model& draft;
  const SimulationSize& simulation;
  std::int32_t gamma;
  double c;  ///< time of a draft run, in target runs
};

/// A choice of parameters that `speclab prove --all` examines.
struct SurveyedRule {
  std::string label;
  /// Returns the parameters, with `drafts` drafts for rules of several.
  std::function<std::shared_ptr<const void>(std::int32_t drafts)> parameters;
};

/// One verification rule. `make` throws ConfigError at or below selected.path.
struct RuleKind : KindInfo {
  struct Common {};
  ExpectedLossless expected_lossless = ExpectedLossless::never;
  std::function<RulePrograms(const SelectedKind& selected, const RuleRequest& request)> make;
  /// For rules that measure the parameters a config leaves out: returns all parameters, or null if none had
  /// to be measured. Their result may depend on the whole pilot.
  std::function<std::shared_ptr<const void>(const SelectedKind& selected, const RulePilot& pilot)> measure =
      nullptr;
  /// Replaces `expected_lossless` for given parameters (lenient at l = 1 is token verification).
  std::function<bool(const SelectedKind& selected)> lossless_by_parameters = nullptr;
  /// For measured parameters: returns a sentence that stands below their numbers; empty if none is needed.
  std::function<std::string(const SelectedKind& selected)> note = nullptr;
  /// Parameters that `prove --all` examines; none for planted faults.
  std::vector<SurveyedRule> surveyed = {};
};

using RuleConfig = Selected<RuleKind>;

/// Returns the family of all rules; tests and other programs may add some.
Family<RuleKind>& rule_family();

/// Returns true if the rule is expected to be lossless for a target sampled at `temperature`.
bool expected_lossless(const RuleConfig& rule, double temperature);

/// Throws ConfigError, naming the caller `what`, for a rule that is built for one gamma: the caller needs
/// several.
void require_every_gamma(const RuleConfig& rule, const std::string& what);

}  // namespace speclab
