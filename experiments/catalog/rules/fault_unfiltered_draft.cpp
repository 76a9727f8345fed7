#include "core/rules/engine_faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_unfiltered_draft_rule() {
  return planted_fault(plain_rule_kind<UnfilteredDraftFault>(
      "fault-unfiltered-draft",
      "Planted fault: drafts from the two likeliest tokens, and verifies against the whole row.",
      ExpectedLossless::never));
}

}  // namespace speclab
