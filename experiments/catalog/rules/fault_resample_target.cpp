#include "core/rules/faults.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& fault_resample_target_rule() {
  static const RuleKind kind = planted_fault(plain_rule_kind<ResampleTargetFault>(
      "fault-resample-target", "Planted fault: after a rejection samples p instead of the residual.",
      ExpectedLossless::never));
  return kind;
}

}  // namespace speclab
