#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_late_context_rule() {
  return planted_fault(plain_rule_kind<LateContextFault>(
      "fault-late-context", "Planted fault: target rows are read one position late.",
      ExpectedLossless::never));
}

}  // namespace speclab
