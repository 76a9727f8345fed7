#include "core/rules/faults.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& fault_unwritten_bonus_rule() {
  static const RuleKind kind = planted_fault(plain_rule_kind<UnwrittenBonusFault>(
      "fault-unwritten-bonus", "Planted fault: the bonus is left at token 0.", ExpectedLossless::never));
  return kind;
}

}  // namespace speclab
