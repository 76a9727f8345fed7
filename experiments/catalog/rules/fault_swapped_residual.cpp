#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_swapped_residual_rule() {
  return planted_fault(plain_rule_kind<SwappedResidualFault>(
      "fault-swapped-residual", "Planted fault: residual (q-p)+ instead of (p-q)+.",
      ExpectedLossless::never));
}

}  // namespace speclab
