// The planted faults of core/rules/engine_faults, in the order of `speclab list`.
#include "core/rules/engine_faults.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

std::vector<RuleKind> engine_faults() {
  return {
      planted_fault<ReusedGumbelFault>(
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
          "Planted fault: verifies a token or drops it by the draft's probability of that very token."),
  };
}

}  // namespace speclab
