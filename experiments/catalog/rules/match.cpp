#include "core/rules/match.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& match_rule() {
  static const RuleKind kind = plain_rule_kind<MatchRule>(
      "match", "Draw the target's token whatever was drafted; accept the draft where they agree. Lossless.",
      ExpectedLossless::always);
  return kind;
}

}  // namespace speclab
