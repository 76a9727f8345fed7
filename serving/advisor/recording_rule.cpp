// Decides which rules a recording can be used for, and says why not for others.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "serving/advisor/recording_plan.hpp"

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
                "\"{}\" decides by whole rows, also of tokens that the text does not hold; rounds follow for \"token\" and \"block\"",
                name)
          : fmt::format(
                "\"{}\" is not lossless: texts that it emits have another law than the recorded one, and nothing follows from this one for its rounds",
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
      "--rule {}: it has no acceptance rate of single rows, and its rounds do not follow from a text", name);
}

}  // namespace speclab
