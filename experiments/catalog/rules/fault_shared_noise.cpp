#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_shared_noise_rule() {
  return planted_fault(plain_rule_kind<SharedNoiseFault>(
      "fault-shared-noise", "Planted fault: the acceptance draw reuses the uniform that drew the token.",
      ExpectedLossless::never));
}

}  // namespace speclab
