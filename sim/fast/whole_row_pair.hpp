// Pairs prepared for rules that read whole rows (core/fast/whole_row_forms.hpp).
#pragma once

#include <memory>

#include "sim/any_rule.hpp"
#include "sim/fast/fast_decoder.hpp"
#include "sim/fast/shared_rows.hpp"
#include "sim/models/model.hpp"

namespace speclab {

/// Whether this is one of those rules.
bool reads_whole_rows(const AnyRule& rule);

/// Memory that preparing two stored tables, or two n-gram models, for such a rule takes at most, in bytes.
double whole_row_bytes(const Model& target, const Model& draft, const AnyRule& rule);

/// Of two n-gram models, or two stored tables if the rule is not one that accepts or replaces a token. Throws
/// ModelError as FastPair does.
std::unique_ptr<const FastDecoder> whole_row_pair(const Model& target, const Model& draft,
                                                  const AnyRule& rule, SharedRows& rows);

}  // namespace speclab
