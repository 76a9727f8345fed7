#include "core/rules/engine_faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_filtered_bonus_rule() {
  return planted_fault(plain_rule_kind<FilteredBonusFault>(
      "fault-filtered-bonus", "Planted fault: min-p of one half filters the bonus and nothing else.",
      ExpectedLossless::never));
}

}  // namespace speclab
