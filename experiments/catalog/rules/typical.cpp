#include "core/rules/typical.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind typical_rule() {
  return rule_kind<TypicalRule>(
      "typical", "Typical acceptance: accept iff p(x) > min(epsilon, delta exp(-H(p))). Lossy.",
      ExpectedLossless::never,
      {field("epsilon", &TypicalRule::epsilon, number(0, 1), "Hard threshold (posterior_threshold of vLLM)."),
       field("delta", &TypicalRule::delta, number(0, 1000),
             "Threshold relative to exp(-entropy) (posterior_alpha of vLLM).")});
}

}  // namespace speclab
