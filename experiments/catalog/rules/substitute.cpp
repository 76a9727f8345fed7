#include "core/rules/substitute.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind substitute_rule() {
  RuleKind kind = rule_kind<SubstituteRule>(
      "substitute",
      "Draw the target's token; if it is among the draft's likeliest, emit it and go on in the drafted text's rows. Lossy.",
      ExpectedLossless::never,
      {integer_field("top_k", &SubstituteRule::top_k, 0, 1 << 20,
                     "Number of the draft's likeliest tokens that may replace the drafted one.")});
  kind.surveyed = {surveyed_rule("substitute top 2", SubstituteRule(2))};
  return kind;
}

}  // namespace speclab
