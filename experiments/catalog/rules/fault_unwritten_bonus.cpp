#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_unwritten_bonus_rule() {
  return planted_fault(plain_rule_kind<UnwrittenBonusFault>(
      "fault-unwritten-bonus", "Planted fault: the bonus is left at token 0.", ExpectedLossless::never));
}

}  // namespace speclab
