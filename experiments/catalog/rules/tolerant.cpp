#include "core/rules/tolerant.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind tolerant_rule() {
  RuleKind kind = rule_kind<TolerantRule>(
      "tolerant", "Accept with min(1, p/q + epsilon + beta (1 - max p)). Lossy where an addend is above 0.",
      ExpectedLossless::never,
      {field("epsilon", &TolerantRule::epsilon, number(0, 1), "Fixed addend."),
       field("beta", &TolerantRule::beta, number(0, 1),
             "Addend in proportion to the target's uncertainty (EARS).")});
  kind.lossless_by_parameters = [](const SelectedKind& selected) {
    const auto& rule = selected.as<TolerantRule>();
    return rule.epsilon == 0 && rule.beta == 0;
  };
  return kind;
}

}  // namespace speclab
