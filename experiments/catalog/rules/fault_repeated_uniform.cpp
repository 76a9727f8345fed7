#include "core/rules/engine_faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_repeated_uniform_rule() {
  return planted_fault(plain_rule_kind<RepeatedUniformFault>(
      "fault-repeated-uniform",
      "Planted fault: all positions of a round compare their ratio with one uniform number.",
      ExpectedLossless::never));
}

}  // namespace speclab
