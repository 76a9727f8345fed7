#include "core/rules/faults.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& fault_accept_all_rule() {
  static const RuleKind kind = planted_fault(plain_rule_kind<AcceptAllFault>(
      "fault-accept-all", "Planted fault: accepts every drafted token.", ExpectedLossless::never));
  return kind;
}

}  // namespace speclab
