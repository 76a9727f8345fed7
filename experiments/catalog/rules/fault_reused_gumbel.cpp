#include "core/rules/engine_faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_reused_gumbel_rule() {
  return planted_fault(plain_rule_kind<ReusedGumbelFault>(
      "fault-reused-gumbel",
      "Planted fault: draws the correction with the Gumbel noise that drew the rejected token.",
      ExpectedLossless::never));
}

}  // namespace speclab
