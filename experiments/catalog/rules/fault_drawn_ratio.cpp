#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_drawn_ratio_rule() {
  return planted_fault(plain_rule_kind<DrawnRatioFault>(
      "fault-drawn-ratio",
      "Planted fault: accepts at q(x)/p(y) with y drawn from p, and corrects as fault-next-row.",
      ExpectedLossless::never));
}

}  // namespace speclab
