#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_inverted_ratio_rule() {
  return planted_fault(plain_rule_kind<InvertedRatioFault>(
      "fault-inverted-ratio", "Planted fault: accepts with min(1, q/p).", ExpectedLossless::never));
}

}  // namespace speclab
