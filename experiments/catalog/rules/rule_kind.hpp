// The verification rules that a config or the command line can name: one file per rule, one line in
// all_rules.cpp. Whatever is compiled for one rule (decoding, enumeration) is compiled in that file, by
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

/// When decoding by a rule is expected to have the target's distribution. `speclab prove --all` holds every
/// rule to it.
enum class ExpectedLossless { always, at_temperature_zero, never };

/// What a rule may need beyond its own parameters.
class RuleRequest {
 public:
  /// Of a gamma that is asked for only by rules that differ by it.
  explicit RuleRequest(std::function<std::int32_t()> gamma) : gamma_(std::move(gamma)) {}

  /// Drafted tokens per round.
  std::int32_t gamma() const { return gamma_(); }

 private:
  std::function<std::int32_t()> gamma_;
};

/// A rule with everything that was compiled for it.
struct RulePrograms {
  AnyRule sampled;            ///< for decoding
  EnumerableRule enumerated;  ///< for proofs and exact chains
};

/// The pair that a rule's shape may be measured on.
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
  /// The parameters, for rules of several drafts with that many.
  std::function<std::shared_ptr<const void>(std::int32_t drafts)> parameters;
  /// For lenient rules l: of the first token's probability it is counted how often it is at most p/l.
  std::optional<double> lenience = std::nullopt;
};

/// One verification rule. `make` throws ConfigError at or below selected.path.
struct RuleKind : KindInfo {
  struct Common {};
  ExpectedLossless expected_lossless = ExpectedLossless::never;
  std::function<RulePrograms(const SelectedKind& selected, const RuleRequest& request)> make;
  /// For rules with parameters that are measured when a config leaves them out: the parameters with those
  /// filled in; null when nothing had to be measured. Such a rule is taken to depend on all of the pilot.
  std::function<std::shared_ptr<const void>(const SelectedKind& selected, const RulePilot& pilot)> measure =
      nullptr;
  /// Instead of `expected_lossless`, for rules where the parameters decide (lenient at l = 1 is token
  /// verification).
  std::function<bool(const SelectedKind& selected)> lossless_by_parameters = nullptr;
  /// What `prove --all` examines; nothing of planted faults.
  std::vector<SurveyedRule> surveyed = {};
};

using RuleConfig = Selected<RuleKind>;

/// Every rule; tests and other programs may add rules.
Family<RuleKind>& rule_family();

/// Whether decoding by this rule is expected to have the target's distribution when the target is sampled at
/// `temperature`.
bool expected_lossless(const RuleConfig& rule, double temperature);

/// The programs of a configured rule.
RulePrograms make_rule(const RuleConfig& rule, std::int32_t gamma);
/// The same; `gamma` is called only by rules that differ by it.
RulePrograms make_rule(const RuleConfig& rule, std::function<std::int32_t()> gamma);

/// Throws ConfigError for a rule that is made for one gamma, where `what` needs one program for several.
void require_every_gamma(const RuleConfig& rule, const std::string& what);

}  // namespace speclab
