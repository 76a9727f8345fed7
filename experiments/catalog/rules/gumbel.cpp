#include "core/rules/gumbel.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind gumbel_rule() {
  return rule_kind<GumbelRule>("gumbel",
                               "Target and draft share Gumbel noise; accept where they agree. Lossless.",
                               ExpectedLossless::always);
}

}  // namespace speclab
