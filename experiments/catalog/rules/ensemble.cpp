#include "core/rules/ensemble.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Mixture {
  double weight = 0.7;
};

}  // namespace

RuleKind ensemble_rule() {
  RuleKind kind = rule_kind<Mixture>(
      "ensemble",
      "Token verification against w p + (1 - w) q (DIVERSED with a fixed weight). Lossy for w < 1.",
      ExpectedLossless::never, {field("weight", &Mixture::weight, number(0, 1), "w, the target's weight.")},
      [](const Mixture& parameters, const std::string&, const RuleRequest&) {
        return EnsembleRule(parameters.weight);
      });
  kind.lossless_by_parameters = [](const SelectedKind& selected) {
    return selected.as<Mixture>().weight == 1;
  };
  return kind;
}

}  // namespace speclab
