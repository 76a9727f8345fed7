#include "sim/fast/fast_quality.hpp"

#include "sim/fast/fast_pair.hpp"

namespace speclab {

std::optional<std::string> fast_quality_unsupported_reason(const Model& target, const Model& draft,
                                                           const AnyRule& rule,
                                                           const RuleQualityOptions& how) {
  if (how.argmax_target) return "a target at temperature 0 is compared row by row";
  // N-grams visit the same contexts repeatedly, so the emitted distribution is computed once in each.
  const bool found_by_context =
      rule->accepts_or_replaces() && reads_whole_rows(rule) && pair_kind(target, draft) == PairKind::ngrams;
  if (!how.lossless && !found_by_context)
    return "this lossy rule's output distribution needs passes over the rows";
  if (!whole_rows_are_of(target, draft, rule)) {
    return "it needs two models of stored rows or two n-gram models, and a rule that reads rows only through sums of max(0, p - G q)";
  }
  return memory_reason(whole_row_bytes(target, draft, rule));
}

FastQuality::FastQuality(const Model& target, const Model& draft, const AnyRule& rule, SharedRows& rows)
    : rule_(rule), decoder_(whole_row_pair(target, draft, rule, rows)) {}

Outcome FastQuality::measure(std::int32_t gamma, const RuleQualityOptions& how,
                             const SimulationSize& simulation, const Control& control,
                             std::size_t streams) const {
  return decoder_->measure_quality(gamma, rule_, how.lossless, simulation, control, streams);
}

}  // namespace speclab
