// The planted faults of core/rules, in the order of `speclab list`.
#include "core/rules/faults.hpp"

#include <fmt/format.h>

#include <tuple>

#include "core/rules/engine_faults.hpp"
#include "core/rules/step_faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct NoParameters {};

constexpr std::tuple<WrongStep, const char*, const char*> steps[] = {
    {WrongStep::inverted_ratio, "inverted-ratio", "accepts with min(1, q/p)"},
    {WrongStep::threshold, "threshold", "accepts iff p >= q, without a draw"},
    {WrongStep::second_chance, "second-chance", "accepts also if a token drawn from p is the same"},
    {WrongStep::drawn_ratio, "drawn-ratio", "as fault-next-row, accepting at q(x)/p(y), y drawn from p"},
    {WrongStep::repeated_uniform, "repeated-uniform",
     "all positions of a round compare with one uniform number"},
    {WrongStep::argmax_verifier, "argmax-verifier", "temperature 0, but the bonus is drawn from p"},
    {WrongStep::late_context, "late-context", "target rows are read one position late"},
    {WrongStep::next_context, "next-context", "tokens are verified by the target's row after them"},
    {WrongStep::next_row, "next-row", "the correction comes from the row after the rejected token"},
    {WrongStep::counted, "counted", "keeps as many tokens as passed, also after a rejection"},
    {WrongStep::argmax_residual, "argmax-residual", "the correction is the residual's argmax"},
    {WrongStep::absolute_residual, "absolute-residual", "residual |p-q| instead of (p-q)+"},
    {WrongStep::softmax_residual, "softmax-residual", "residual softmax(p-q) instead of (p-q)+"},
    {WrongStep::other_token, "other-token", "corrects by any token of p but the rejected one"},
    {WrongStep::stale_bonus, "stale-bonus", "the bonus comes from the target's row before its own"},
    {WrongStep::residual_bonus, "residual-bonus", "the bonus comes from (p-q)+ with q the draft's last row"},
    {WrongStep::draft_bonus, "draft-bonus", "the bonus comes from the draft's last row"},
    {WrongStep::filtered_bonus, "filtered-bonus", "min-p of one half filters the bonus and nothing else"},
    {WrongStep::argmax_bonus, "argmax-bonus", "the bonus is the target's argmax"},
    {WrongStep::unwritten_bonus, "unwritten-bonus", "the bonus is left at token 0"},
};

}  // namespace

std::vector<RuleKind> rule_faults() {
  std::vector<RuleKind> faults{
      planted_fault<AcceptAllFault>("fault-accept-all", "Planted fault: accepts every drafted token."),
      planted_fault<ResampleTargetFault>(
          "fault-resample-target", "Planted fault: after a rejection samples p instead of the residual."),
      planted_fault<SwappedResidualFault>("fault-swapped-residual",
                                          "Planted fault: residual (q-p)+ instead of (p-q)+."),
      planted_fault<SharedNoiseFault>(
          "fault-shared-noise", "Planted fault: the acceptance draw reuses the uniform that drew the token."),
      planted_fault<EnsembleBonusFault>(
          "fault-ensemble-bonus",
          "Planted fault: verifies against the mean of target and draft and takes the bonus from the target."),
      planted_fault(rule_kind<ClosedComparisonFault>(
          "fault-closed-comparison", "Planted fault: accepts at u <= p/q with uniforms that can be 0.",
          ExpectedLossless::never,
          {integer_field("levels", &ClosedComparisonFault::levels, 1, 1 << 24,
                         "Uniforms are multiples of 1/levels.")})),
      planted_fault<BlockPrefixFault>("fault-block-prefix",
                                      "Planted fault: block verification with h_i = p_i."),
      planted_fault(paths_rule_kind<StaleSiblingsFault>(
          "fault-stale-siblings", "Planted fault: recursive rejection that never updates p.",
          ExpectedLossless::never)),
      planted_fault<ClaimedDraftFault>(
          "fault-claimed-draft",
          "Planted fault: drafts the draft's argmax, and verifies it as drawn from the whole row."),
  };
  for (const auto& [wrong, name, does] : steps) {
    faults.push_back(planted_fault(rule_kind<NoParameters>(
        fmt::format("fault-{}", name), fmt::format("Planted fault: {}.", does), ExpectedLossless::never, {},
        [step = wrong](const NoParameters&, const auto&...) { return StepFault{step}; })));
  }
  faults.insert(
      faults.end(),
      {planted_fault<ReusedGumbelFault>(
           "fault-reused-gumbel",
           "Planted fault: draws the correction with the Gumbel noise that drew the rejected token."),
       planted_fault<UnfilteredDraftFault>(
           "fault-unfiltered-draft",
           "Planted fault: drafts from the two likeliest tokens, and verifies against the whole row."),
       planted_fault<GreedyMissesFault>(
           "fault-greedy-misses",
           "Planted fault: half of the rounds accept as at temperature 0, and correct from the target."),
       planted_fault<AnticipatingFault>(
           "fault-anticipating",
           "Planted fault: verifies a token or drops it by the draft's probability of that very token.")});
  return faults;
}

}  // namespace speclab
