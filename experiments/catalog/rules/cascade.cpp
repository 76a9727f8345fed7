#include "core/rules/cascade.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind cascade_rule() {
  return rule_kind<CascadeRule>(
      "cascade", "Speculative cascade: the draft is accepted where p(x) >= (1-slack) max p. Lossy.",
      ExpectedLossless::never,
      {field("slack", &CascadeRule::slack, number(0, 1), "How far below the target's best a token may be.")});
}

}  // namespace speclab
