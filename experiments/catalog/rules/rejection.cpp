#include "core/rules/rejection.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind rejection_rule() {
  return rule_kind<RejectionRule>("rejection",
                                  "A.2: accept with p/(M q), M = max p/q, else sample p afresh. Lossless.",
                                  ExpectedLossless::always);
}

}  // namespace speclab
