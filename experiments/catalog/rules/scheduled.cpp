#include "core/rules/scheduled.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind scheduled_rule() {
  RuleKind kind = rule_kind<ScheduledRule>(
      "scheduled",
      "Verifies drafted tokens while their survival, known before each token is drawn, is high enough. Lossless.",
      ExpectedLossless::always,
      {field("survival", &ScheduledRule::survival, number(0, 1),
             "Smallest product of the draft's largest probabilities up to a verified token."),
       field("verification", &ScheduledRule::as_block, choice<bool>({{"token", false}, {"block", true}}),
             "The rule for that prefix.")});
  const ScheduledRule token;
  kind.surveyed = {surveyed_rule("scheduled token", token),
                   surveyed_rule("scheduled block", ScheduledRule(token.survival, true))};
  return kind;
}

}  // namespace speclab
