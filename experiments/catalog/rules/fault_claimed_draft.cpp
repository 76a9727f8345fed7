#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_claimed_draft_rule() {
  return planted_fault(plain_rule_kind<ClaimedDraftFault>(
      "fault-claimed-draft",
      "Planted fault: drafts the draft's argmax, and verifies it as drawn from the whole row.",
      ExpectedLossless::never));
}

}  // namespace speclab
