// The verification rules that a config or the command line can name. Each has its own file and a line in
// all_rules.cpp. Everything that is compiled for one rule (decoding, enumeration) is compiled in its file, by
// rule_entry.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/exact/enumerable_rule.hpp"
#include "experiments/base/format/family.hpp"
#include "sim/any_rule.hpp"
#include "sim/models/model.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// When decoding by a rule is expected to have the target's distribution. `speclab prove --all` checks this
/// for every rule.
enum class ExpectedLossless { always, at_temperature_zero, never };

/// The data that a rule may need beyond its own parameters.
class RuleRequest {
 public:
  /// `gamma` is called only by rules that depend on it.
  explicit RuleRequest(std::function<std::int32_t()> gamma) : gamma_(std::move(gamma)) {}

  /// Returns the drafted tokens per round.
  std::int32_t gamma() const { return gamma_(); }

 private:
  std::function<std::int32_t()> gamma_;
};

/// A rule with everything that was compiled for it.
struct RulePrograms {
  AnyRule sampled;            ///< for decoding
  EnumerableRule enumerated;  ///< for proofs and exact chains
};

/// The pair of models on which a rule's shape may be measured.
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
  /// Returns the parameters; rules for several drafts get `drafts` of them.
  std::function<std::shared_ptr<const void>(std::int32_t drafts)> parameters;
  /// l of lenient rules: the survey counts how often the first token's probability is at most p/l.
  std::optional<double> lenience = std::nullopt;
};

/// One verification rule. `make` throws ConfigError at or below selected.path.
struct RuleKind : KindInfo {
  struct Common {};
  ExpectedLossless expected_lossless = ExpectedLossless::never;
  std::function<RulePrograms(const SelectedKind& selected, const RuleRequest& request)> make;
  /// For rules whose parameters are measured if a config leaves them out: returns the parameters with the
  /// measured ones filled in; null if none had to be measured. Such a rule is assumed to depend on the whole
  /// pilot.
  std::function<std::shared_ptr<const void>(const SelectedKind& selected, const RulePilot& pilot)> measure =
      nullptr;
  /// Replaces `expected_lossless` for rules whose parameters decide (lenient at l = 1 is token verification).
  std::function<bool(const SelectedKind& selected)> lossless_by_parameters = nullptr;
  /// The parameters that `prove --all` examines; none for planted faults.
  std::vector<SurveyedRule> surveyed = {};
};

using RuleConfig = Selected<RuleKind>;

/// Returns the family of all rules; tests and other programs may add some.
Family<RuleKind>& rule_family();

/// Returns true if decoding by this rule is expected to have the distribution of the target sampled at
/// `temperature`.
bool expected_lossless(const RuleConfig& rule, double temperature);

/// Returns the programs of a configured rule.
RulePrograms make_rule(const RuleConfig& rule, std::int32_t gamma);
/// Returns the same; `gamma` is called only by rules that depend on it.
RulePrograms make_rule(const RuleConfig& rule, std::function<std::int32_t()> gamma);

/// Throws ConfigError for a rule that is made for one gamma, if `what` needs one program for several.
void require_every_gamma(const RuleConfig& rule, const std::string& what);

}  // namespace speclab
