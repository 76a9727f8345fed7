#include "core/rules/gumbel.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& gumbel_rule() {
  static const RuleKind kind = plain_rule_kind<GumbelRule>(
      "gumbel", "Target and draft share Gumbel noise; accept where they agree. Lossless.",
      ExpectedLossless::always);
  return kind;
}

}  // namespace speclab
