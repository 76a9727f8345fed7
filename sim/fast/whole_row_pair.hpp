// Prepares pairs for rules that read full rows (core/fast/whole_row_forms.hpp).
#pragma once

#include <cstdint>
#include <memory>

#include "sim/any_rule.hpp"
#include "sim/fast/fast_decoder.hpp"
#include "sim/models/model.hpp"

namespace speclab {

class SharedRows;

class WholeRowDecoder : public FastDecoder {
 public:
  /// Measures `rule`, for which the pair was prepared, as measure_rule_quality does.
  virtual Outcome measure_quality(std::int32_t gamma, const AnyRule& rule, bool lossless,
                                  const SimulationSize& simulation, const Control& control,
                                  std::size_t streams) const = 0;
};

/// The kinds of pairs that the fast engine knows: two stored tables, two n-gram models, or two n-gram models
/// with top-k or top-p.
enum class PairKind : std::uint8_t { tables, ngrams, truncated_ngrams, other };
PairKind pair_kind(const Model& target, const Model& draft);

/// Returns whether the rule is a WholeRowRule.
bool reads_whole_rows(const AnyRule& rule);

/// Returns whether a rule that reads full rows can be measured on this pair.
bool whole_rows_are_of(const Model& target, const Model& draft, const AnyRule& rule);

/// Returns an upper bound on the memory, in bytes, for preparing a pair for such a rule.
double whole_row_bytes(const Model& target, const Model& draft, const AnyRule& rule);

/// Prepares two n-gram models, or two stored tables if the rule is not one that accepts or replaces a token
/// and may be lossy. Throws ModelError as FastPair does.
std::unique_ptr<const WholeRowDecoder> whole_row_pair(const Model& target, const Model& draft,
                                                      const AnyRule& rule, SharedRows& rows);

}  // namespace speclab
