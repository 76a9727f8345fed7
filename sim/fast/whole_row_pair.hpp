// Prepares pairs for rules that read full rows (core/fast/whole_row_forms.hpp).
#pragma once

#include <cstdint>
#include <memory>

#include "sim/any_rule.hpp"
#include "sim/models/model.hpp"

namespace speclab {

class FastDecoder;
class SharedRows;

/// The kinds of pairs that the fast engine knows: two stored tables, two n-gram models, or two n-gram models
/// with top-k or top-p.
enum class PairKind : std::uint8_t { tables, ngrams, truncated_ngrams, other };
PairKind pair_kind(const Model& target, const Model& draft);

/// Returns an upper bound on the number of contexts of a pair that the fast engine knows.
double row_contexts(const Model& target, const Model& draft);

/// Returns whether the rule is a WholeRowRule.
bool reads_whole_rows(const AnyRule& rule);

/// Returns an upper bound on the memory, in bytes, for preparing the pair for the rule.
double whole_row_bytes(const Model& target, const Model& draft, const AnyRule& rule);

/// Prepares two n-gram models, or two stored tables if the rule is not one that accepts or replaces a token
/// and may be lossy. Throws ModelError as FastPair does.
std::unique_ptr<const FastDecoder> whole_row_pair(const Model& target, const Model& draft,
                                                  const AnyRule& rule, SharedRows& rows);

}  // namespace speclab
