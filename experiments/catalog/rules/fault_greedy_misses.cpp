#include "core/rules/engine_faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_greedy_misses_rule() {
  return planted_fault(plain_rule_kind<GreedyMissesFault>(
      "fault-greedy-misses",
      "Planted fault: half of the rounds accept as at temperature 0, and correct from the target.",
      ExpectedLossless::never));
}

}  // namespace speclab
