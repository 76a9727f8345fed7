// Which rules decide position by position, so that one context says everything about what they emit there.
#pragma once

#include <concepts>

#include "core/round/verify.hpp"

namespace speclab {

/// A rule that accepts a drafted token with some probability, and else replaces it.
template <class Rule>
concept AcceptanceRule = requires(const Rule& rule, Row row, Token token) {
  { rule.acceptance(token, row, row) } -> std::convertible_to<double>;
  { rule.replacement(row, row)[token] } -> std::convertible_to<double>;
};

/// Rules that decide about one draft, position by position. Others, such as block verification, read more
/// than a context.
template <class Rule>
concept PositionRule = CouplingRule<Rule, double> || AcceptanceRule<Rule>;

}  // namespace speclab
