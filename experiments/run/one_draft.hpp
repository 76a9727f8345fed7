// A requirement of experiments that look at rounds of one drafted sequence.
#pragma once

#include <string>

#include "experiments/catalog/rules/rule_kind.hpp"

namespace speclab {

/// Throws ConfigError, naming the experiment, for a rule that drafts several sequences or a tree.
void require_one_draft(const AnyRule& rule, const RuleConfig& config, const std::string& experiment);

}  // namespace speclab
