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
             "Below this largest probability of the draft the target takes over."),
       field("rollback", &BildRule::rollback, number(0, 1000),
             "-log p(x) above which a token is taken back.")});
}

}  // namespace speclab
