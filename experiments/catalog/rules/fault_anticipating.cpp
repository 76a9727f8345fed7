#include "core/rules/engine_faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_anticipating_rule() {
  return planted_fault(plain_rule_kind<AnticipatingFault>(
      "fault-anticipating",
      "Planted fault: verifies a token or drops it by the draft's probability of that very token.",
      ExpectedLossless::never));
}

}  // namespace speclab
