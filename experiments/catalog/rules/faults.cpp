// The planted faults of core/rules/faults, in the order of `speclab list`.
#include "core/rules/faults.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

RuleKind closed_comparison() {
  using Rule = ClosedComparisonFault;
  RuleKind kind = rule_kind<Rule>(
      "fault-closed-comparison", "Planted fault: accepts at u <= p/q with uniforms that can be 0.",
      ExpectedLossless::never,
      {integer_field("levels", &Rule::levels, 1, 1 << 24, "Uniforms are multiples of 1/levels.")});
  return planted_fault(std::move(kind));
}

}  // namespace

std::vector<RuleKind> rule_faults() {
  return {
      planted_fault<AcceptAllFault>("fault-accept-all", "Planted fault: accepts every drafted token."),
      planted_fault<ResampleTargetFault>(
          "fault-resample-target", "Planted fault: after a rejection samples p instead of the residual."),
      planted_fault<SwappedResidualFault>("fault-swapped-residual",
                                          "Planted fault: residual (q-p)+ instead of (p-q)+."),
      planted_fault<SharedNoiseFault>(
          "fault-shared-noise", "Planted fault: the acceptance draw reuses the uniform that drew the token."),
      planted_fault<UnwrittenBonusFault>("fault-unwritten-bonus",
                                         "Planted fault: the bonus is left at token 0."),
      planted_fault<DraftBonusFault>("fault-draft-bonus",
                                     "Planted fault: the bonus comes from the draft's last row."),
      planted_fault<EnsembleBonusFault>(
          "fault-ensemble-bonus",
          "Planted fault: verifies against the mean of target and draft and takes the bonus from the target."),
      closed_comparison(),
      planted_fault<LateContextFault>("fault-late-context",
                                      "Planted fault: target rows are read one position late."),
      planted_fault<BlockPrefixFault>("fault-block-prefix",
                                      "Planted fault: block verification with h_i = p_i."),
      planted_fault(paths_rule_kind<StaleSiblingsFault>(
          "fault-stale-siblings", "Planted fault: recursive rejection that never updates p.",
          ExpectedLossless::never)),
      planted_fault<ClaimedDraftFault>(
          "fault-claimed-draft",
          "Planted fault: drafts the draft's argmax, and verifies it as drawn from the whole row."),
      planted_fault<InvertedRatioFault>("fault-inverted-ratio", "Planted fault: accepts with min(1, q/p)."),
      planted_fault<ArgmaxVerifierFault>(
          "fault-argmax-verifier",
          "Planted fault: verifies at temperature 0, but draws the bonus from the target."),
      planted_fault<NextRowFault>(
          "fault-next-row", "Planted fault: the correction comes from the row after the rejected token."),
      planted_fault<DrawnRatioFault>(
          "fault-drawn-ratio",
          "Planted fault: accepts at q(x)/p(y) with y drawn from p, and corrects as fault-next-row."),
  };
}

}  // namespace speclab
