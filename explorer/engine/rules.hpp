// The rules that the page offers: every rule of the catalogue, with the names and parameters of `speclab
// prove --rule`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"

namespace speclab::explorer {

/// A rule on the page. It has at most one parameter with a slider; an empty name means none.
struct OfferedRule {
  std::string name;
  std::string parameter = {};
  bool whole = false;  ///< whether its values are whole numbers
  double value = 0;    ///< first value of the parameter
  double least = 0;
  double most = 0;
  std::string kind = {};     ///< name in the catalogue, if the page uses another name
  std::string fixed = {};    ///< its other parameters, "name=value" separated by commas
  std::string verdict = {};  ///< whether `speclab prove --all` expects it to be lossless
};

namespace detail {

/// Largest integer parameter (drafts or levels): more have more branches than a page can enumerate.
inline constexpr double max_whole = 3;
/// Smallest value of a number whose range does not include its lower end.
inline constexpr double step = 0.05;

/// Adds the first parameter that a slider can set: a number between 0 and 1, or a small whole number. It
/// starts at the value with which the survey examines the rule: at its default, l = 1, "lenient" is token
/// verification.
inline void add_parameter(const RuleKind& kind, std::int32_t drafts, OfferedRule& rule) {
  const ObjectType& parameters = *kind.parameters->object();
  Json surveyed = Json::object();
  if (!kind.surveyed.empty()) parameters.write(kind.surveyed.front().parameters(drafts).get(), surveyed);
  for (const Field& field : parameters.fields()) {
    Json schema;
    field.type->schema(schema);
    const bool whole = schema.value("type", "") == "integer";
    const bool open = schema.contains("exclusiveMinimum");
    const double least = schema.value(open ? "exclusiveMinimum" : "minimum", -1.0);
    const double most = schema.value("maximum", 0.0);
    const bool small = least >= 0 && most >= least && most <= (whole ? 64 : 1);
    if (field.optional() || !small || (!whole && schema.value("type", "") != "number")) continue;
    rule.parameter = field.name;
    rule.whole = whole;
    rule.value = surveyed.value(field.name, parameters.fallback(field)).get<double>();
    rule.least = open ? step : least;
    rule.most = whole ? std::min(most, max_whole) : most;
    return;
  }
}

/// Returns the parameters in which a choice differs from the defaults, except the one with the slider.
inline std::string fixed_text(const ObjectType& parameters, const void* chosen, const std::string& slider) {
  Json json = Json::object();
  parameters.write(chosen, json);
  std::string text;
  for (const Field& field : parameters.fields()) {
    if (field.name == slider || !json.contains(field.name)) continue;
    const Json& value = json[field.name];
    if (value == parameters.fallback(field)) continue;
    text += (text.empty() ? "" : ",") + field.name + "=";
    text += value.is_string() ? value.get<std::string>() : value.dump();
  }
  return text;
}

inline std::string verdict_of(ExpectedLossless expected) {
  switch (expected) {
    case ExpectedLossless::always:
      return "lossless";
    case ExpectedLossless::at_temperature_zero:
      return "lossless at temperature 0";
    case ExpectedLossless::never:
      break;
  }
  return "lossy";
}

inline std::vector<OfferedRule> all_rules() {
  constexpr std::int32_t drafts = 2;
  std::vector<OfferedRule> all;
  for (std::size_t i = 0; i < rule_family().size(); ++i) {
    const RuleKind& kind = rule_family().entry(i);
    OfferedRule rule{.name = kind.name, .kind = kind.name, .verdict = verdict_of(kind.expected_lossless)};
    add_parameter(kind, drafts, rule);
    all.push_back(rule);
    // These are other forms, surveyed under separate names: "tree, dynamic".
    for (const SurveyedRule& form : kind.surveyed) {
      if (!form.label.starts_with(kind.name + ", ")) continue;
      OfferedRule& other = all.emplace_back(rule);
      other.name = form.label;
      other.fixed = fixed_text(*kind.parameters->object(), form.parameters(drafts).get(), rule.parameter);
    }
  }
  return all;
}

}  // namespace detail

inline const std::vector<OfferedRule>& offered_rules() {
  static const std::vector<OfferedRule> all = detail::all_rules();
  return all;
}

/// Returns the rule of that name. `value` is its parameter. Throws std::invalid_argument for other names, and
/// ConfigError for a value that the rule does not take.
inline RuleConfig rule_config(std::string_view name, double value) {
  const auto& all = offered_rules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& rule) { return rule.name == name; });
  if (found == all.end()) throw std::invalid_argument("no rule \"" + std::string(name) + "\"");
  Json json{{"kind", found->kind}};
  for (std::string_view left = found->fixed; !left.empty();) {
    const std::string_view pair = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), pair.size() + 1));
    const std::size_t sign = pair.find('=');
    const std::string said(pair.substr(sign + 1));
    const Json number = Json::parse(said, nullptr, false);
    json[std::string(pair.substr(0, sign))] = number.is_discarded() ? Json(said) : number;
  }
  if (found->whole) {
    json[found->parameter] = static_cast<std::int64_t>(value);
  } else if (!found->parameter.empty()) {
    json[found->parameter] = value;
  }
  return read(kind_of(rule_family()), json, "/rule");
}

inline RulePrograms rule_named(std::string_view name, double value, std::int32_t gamma) {
  return make_rule(rule_config(name, value), gamma);
}

}  // namespace speclab::explorer
