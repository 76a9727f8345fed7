// Makes rules from JSON in tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"

namespace speclab {

inline RuleConfig rule_from(const Json& json) { return read(kind_of(rule_family()), json, "/rule"); }
inline RuleConfig rule_of(const std::string& text) { return rule_from(parse_json(text)); }

/// Returns a rule with every default.
inline RuleConfig rule_named(const std::string& name) { return rule_from(Json{{"kind", name}}); }

}  // namespace speclab
