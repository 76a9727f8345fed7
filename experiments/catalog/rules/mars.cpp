#include "core/rules/margin.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind mars_rule() {
  return rule_kind<MarsRule>(
      "mars",
      "Margin-aware verification: accept the target's best token, or its second best with nearly the same logit; at temperature 0 from the target's unadjusted row. Lossy.",
      ExpectedLossless::never,
      {field("theta", &MarsRule::theta, number(0, 1),
             "Ratio of the two logits above which the second is accepted."),
       field("log_sum_exp", &MarsRule::log_sum_exp, number(-1e6, 1e6),
             "Logarithm of the sum of exp(logit), which probabilities do not determine.")});
}

}  // namespace speclab
