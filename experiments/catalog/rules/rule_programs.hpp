// Builds the programs of a configured rule. Only code that decodes or enumerates includes this, because it
// brings the rows and the models along.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/exact/enumerable_rule.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "sim/any_rule.hpp"

namespace speclab {

/// A rule, compiled for each use.
struct RulePrograms {
  AnyRule sampled;            ///< for decoding
  EnumerableRule enumerated;  ///< for proofs and exact chains
};

/// Returns the programs of a configured rule.
RulePrograms make_rule(const RuleConfig& rule, std::int32_t gamma);
/// Returns the programs of a configured rule; calls `gamma` only if the rule depends on it.
RulePrograms make_rule(const RuleConfig& rule, std::function<std::int32_t()> gamma);

}  // namespace speclab
