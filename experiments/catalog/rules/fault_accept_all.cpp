#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_accept_all_rule() {
  return planted_fault(plain_rule_kind<AcceptAllFault>(
      "fault-accept-all", "Planted fault: accepts every drafted token.", ExpectedLossless::never));
}

}  // namespace speclab
