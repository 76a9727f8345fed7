#include "core/rules/cascade.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Slack {
  double slack = 0.1;
};

}  // namespace

RuleKind cascade_rule() {
  return rule_kind<Slack>(
      "cascade", "Speculative cascade: the draft is accepted where p(x) >= (1-slack) max p. Lossy.",
      ExpectedLossless::never,
      {field("slack", &Slack::slack, number(0, 1), "How far below the target's best a token may be.")},
      [](const Slack& parameters, const std::string&, const RuleRequest&) {
        return CascadeRule(parameters.slack);
      });
}

}  // namespace speclab
