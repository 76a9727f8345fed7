#include "core/rules/typical.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Thresholds {
  double epsilon = 0.3;
  double delta = 0.09;
};

}  // namespace

RuleKind typical_rule() {
  return rule_kind<Thresholds>(
      "typical", "Typical acceptance: accept iff p(x) > min(epsilon, delta exp(-H(p))). Lossy.",
      ExpectedLossless::never,
      {field("epsilon", &Thresholds::epsilon, number(0, 1), "Hard threshold."),
       field("delta", &Thresholds::delta, number(0, 1000), "Threshold relative to exp(-entropy).")},
      [](const Thresholds& parameters, const std::string&, const RuleRequest&) {
        return TypicalRule(parameters.epsilon, parameters.delta);
      });
}

}  // namespace speclab
