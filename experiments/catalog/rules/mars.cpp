#include "core/rules/margin.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Margin {
  double theta = 0.9;
  double log_sum_exp = 20;
};

}  // namespace

RuleKind mars_rule() {
  return rule_kind<Margin>(
      "mars",
      "Margin-aware verification: the target's best token, or a second one of nearly its logit. Lossy.",
      ExpectedLossless::never,
      {field("theta", &Margin::theta, number(0, 1), "Ratio of the two logits above which the second passes."),
       field("log_sum_exp", &Margin::log_sum_exp, number(-1e6, 1e6),
             "Logarithm of the sum of exp(logit), which a row of probabilities does not have.")},
      [](const Margin& parameters, const std::string&, const RuleRequest&) {
        return MarsRule(parameters.theta, parameters.log_sum_exp);
      });
}

}  // namespace speclab
