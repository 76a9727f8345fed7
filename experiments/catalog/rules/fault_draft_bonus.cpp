#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_draft_bonus_rule() {
  return planted_fault(plain_rule_kind<DraftBonusFault>(
      "fault-draft-bonus", "Planted fault: the bonus comes from the draft's last row.",
      ExpectedLossless::never));
}

}  // namespace speclab
