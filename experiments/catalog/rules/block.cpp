#include "core/rules/block.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind block_rule() {
  return rule_kind<BlockRule>(
      "block", "Block verification: the drafted tokens are verified together. Lossless, never below token.",
      ExpectedLossless::always);
}

}  // namespace speclab
