#include "core/rules/margin.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind mars_rule() {
  return rule_kind<MarsRule>(
      "mars",
      "Margin-aware verification: the target's best token, or a second one of nearly its logit; at temperature "
      "0 from the target's unadjusted row. Lossy.",
      ExpectedLossless::never,
      {field("theta", &MarsRule::theta, number(0, 1),
             "Ratio of the two logits above which the second passes."),
       field("log_sum_exp", &MarsRule::log_sum_exp, number(-1e6, 1e6),
             "Logarithm of the sum of exp(logit), which a row of probabilities does not have.")});
}

}  // namespace speclab
