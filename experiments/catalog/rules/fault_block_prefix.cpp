#include "core/rules/faults.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fault_block_prefix_rule() {
  return planted_fault(plain_rule_kind<BlockPrefixFault>(
      "fault-block-prefix", "Planted fault: block verification with h_i = p_i.", ExpectedLossless::never));
}

}  // namespace speclab
