// Decides which rules a recording can be used for, and says why not for others.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "serving/advisor/recording_plan.hpp"
#include "sim/any_rule.hpp"

namespace speclab {

RecordingRule recording_rule(const std::string& name, bool has_rows) {
  if (name == "token") return {};
  if (name == "block") return {"block", RecordedRule::block, ""};
  const RuleKind* kind = rule_family().find_entry(name);
  if (kind == nullptr) {
    throw UsageError("--rule {}: no such rule{}", name, suggestion(name, rule_family().names()));
  }
  const std::string why =
      kind->expected_lossless == ExpectedLossless::always
          ? fmt::format(
                "\"{}\" decides by whole rows, including tokens outside the text; a recording determines rounds of \"token\" and \"block\"",
                name)
          : fmt::format(
                "\"{}\" is not lossless: its texts have another distribution than the recorded one, which therefore does not determine its rounds",
                name);
  if (!has_rows) throw UsageError("--rule {}: {}", name, why);
  return {name, std::nullopt, why + ". Its acceptance rate in the recorded contexts is α."};
}

std::optional<AnyRule> rate_rule(const std::string& name) {
  const RuleKind* kind = rule_family().find_entry(name);
  if (kind == nullptr || name == "token" || name == "block") return std::nullopt;
  try {
    const RuleConfig config = read(kind_of(rule_family()), Json{{"kind", name}}, "--rule");
    require_every_gamma(config, "a recording");
    AnyRule rule = make_rule(config, 1).sampled;
    if (rule->has_acceptance_rate()) return rule;
  } catch (const ConfigError& error) {
    throw UsageError("--rule {}: {}", name, error.what());
  }
  throw UsageError(
      "--rule {}: it has no acceptance rate of single rows, and a text does not determine its rounds", name);
}

}  // namespace speclab
