#include "core/rules/match.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind match_rule() {
  return rule_kind<MatchRule>(
      "match",
      "Draw the target's token independently of the draft; accept drafted tokens that agree. Lossless.",
      ExpectedLossless::always);
}

}  // namespace speclab
