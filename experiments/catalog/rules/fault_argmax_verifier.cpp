#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_argmax_verifier_rule() {
  return planted_fault(plain_rule_kind<ArgmaxVerifierFault>(
      "fault-argmax-verifier",
      "Planted fault: verifies at temperature 0, but draws the bonus from the target.",
      ExpectedLossless::never));
}

}  // namespace speclab
