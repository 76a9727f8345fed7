#include "core/rules/margin.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind bild_rule() {
  return rule_kind<BildRule>(
      "bild",
      "Big little decoder: accept unless the draft is unsure or the target finds the token unlikely; at "
      "temperature 0 from the target's unadjusted row. Lossy.",
      ExpectedLossless::never,
      {field("fallback", &BildRule::fallback, number(0, 1),
             "The target takes over if the draft's largest probability is below this."),
       field("rollback", &BildRule::rollback, number(0, 1000),
             "Tokens with a larger -log p(x) are taken back.")});
}

}  // namespace speclab
