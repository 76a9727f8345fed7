#include "core/rules/faults.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_ensemble_bonus_rule() {
  return planted_fault(plain_rule_kind<EnsembleBonusFault>(
      "fault-ensemble-bonus",
      "Planted fault: verifies against the mean of target and draft and takes the bonus from the target.",
      ExpectedLossless::never));
}

}  // namespace speclab
