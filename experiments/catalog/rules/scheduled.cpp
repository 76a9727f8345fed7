#include "core/rules/scheduled.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

enum class ScheduledBy { token, block };

struct Schedule {
  double survival = 0.3;
  ScheduledBy verification = ScheduledBy::token;
};

const Typed<ScheduledBy>& scheduled_by_type() {
  static const auto type =
      choice<ScheduledBy>({{"token", ScheduledBy::token}, {"block", ScheduledBy::block}});
  return type;
}

}  // namespace

RuleKind scheduled_rule() {
  RuleKind kind = rule_kind<Schedule>(
      "scheduled",
      "Verify the drafted tokens whose survival, known before each is drawn, is high enough. Lossless.",
      ExpectedLossless::always,
      {field("survival", &Schedule::survival, number(0, 1),
             "Least product of the draft's largest probabilities up to a verified token."),
       field("verification", &Schedule::verification, scheduled_by_type(), "The rule for that prefix.")},
      [](const Schedule& parameters, const std::string&, const RuleRequest&) {
        return ScheduledRule(parameters.survival, parameters.verification == ScheduledBy::block);
      });
  kind.surveyed = {surveyed_rule("scheduled token", Schedule{}),
                   surveyed_rule("scheduled block", Schedule{.verification = ScheduledBy::block})};
  return kind;
}

}  // namespace speclab
