#include "core/rules/fly.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fly_rule() {
  RuleKind kind = rule_kind<FlyRule>(
      "fly",
      "FLy: accept a token other than the argmax if the target is unsure and agrees with the next tokens. Lossy.",
      ExpectedLossless::never,
      {field("entropy", &FlyRule::entropy, number(0, 1),
             "Smallest entropy, as a share of log V, at which the target counts as unsure."),
       integer_field("window", &FlyRule::window, 0, 64, "Number of next tokens that must be the argmax.")});
  kind.surveyed = {surveyed_rule("fly window 1", FlyRule(FlyRule{}.entropy, 1))};
  return kind;
}

}  // namespace speclab
