// Decodes and measures a rule (sim/rule_quality.hpp) at a cost that does not grow with the vocabulary: total
// variation and the optimal transport bound are functions of totals. A lossy rule's output distribution is
// computed from full rows, once in each context.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sim/any_rule.hpp"
#include "sim/control.hpp"
#include "sim/fast/interleaved.hpp"
#include "sim/fast/whole_row_pair.hpp"
#include "sim/models/model.hpp"
#include "sim/rule_quality.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// Returns the reason why a rule cannot be measured by this engine, as the end of a sentence; empty if it
/// can, as far as is known without preparing the pair.
std::optional<std::string> fast_quality_unsupported_reason(const Model& target, const Model& draft,
                                                           const AnyRule& rule,
                                                           const RuleQualityOptions& how);

/// A pair prepared for a rule. The models must outlive it.
class FastQuality {
 public:
  /// `fast_quality_unsupported_reason` must be empty. Throws ModelError as FastPair does.
  FastQuality(const Model& target, const Model& draft, const AnyRule& rule, SharedRows& rows);

  /// Measures as measure_rule_quality does, by the random numbers of FastPair::decode. The result does not
  /// depend on `streams`, threads or instruction set.
  Outcome measure(std::int32_t gamma, const RuleQualityOptions& how, const SimulationSize& simulation,
                  const Control& control = {}, std::size_t streams = default_streams) const;

 private:
  AnyRule rule_;
  std::unique_ptr<const WholeRowDecoder> decoder_;
};

}  // namespace speclab
