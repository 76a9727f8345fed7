#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_next_row_rule() {
  return planted_fault(plain_rule_kind<NextRowFault>(
      "fault-next-row", "Planted fault: the correction comes from the row behind the rejected token.",
      ExpectedLossless::never));
}

}  // namespace speclab
