#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_resample_target_rule() {
  return planted_fault(plain_rule_kind<ResampleTargetFault>(
      "fault-resample-target", "Planted fault: after a rejection samples p instead of the residual.",
      ExpectedLossless::never));
}

}  // namespace speclab
