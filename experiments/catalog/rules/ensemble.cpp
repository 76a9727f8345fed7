#include "core/rules/ensemble.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind ensemble_rule() {
  RuleKind kind = rule_kind<EnsembleRule>(
      "ensemble",
      "Token verification against w p + (1 - w) q (DIVERSED with a fixed weight). Lossy for w < 1.",
      ExpectedLossless::never,
      {field("weight", &EnsembleRule::weight, number(0, 1), "w, the target's weight.")});
  kind.lossless_by_parameters = [](const SelectedKind& selected) {
    return selected.as<EnsembleRule>().weight == 1;
  };
  return kind;
}

}  // namespace speclab
