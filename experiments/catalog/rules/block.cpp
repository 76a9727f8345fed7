#include "core/rules/block.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& block_rule() {
  static const RuleKind kind = plain_rule_kind<BlockRule>(
      "block", "Block verification: the drafted tokens are verified together. Lossless, never below token.",
      ExpectedLossless::always);
  return kind;
}

}  // namespace speclab
