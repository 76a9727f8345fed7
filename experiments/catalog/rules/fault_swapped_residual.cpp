#include "core/rules/faults.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& fault_swapped_residual_rule() {
  static const RuleKind kind = planted_fault(plain_rule_kind<SwappedResidualFault>(
      "fault-swapped-residual", "Planted fault: residual (q-p)+ instead of (p-q)+.",
      ExpectedLossless::never));
  return kind;
}

}  // namespace speclab
