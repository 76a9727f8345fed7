#include "core/rules/fly.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fly_rule() {
  RuleKind kind = rule_kind<FlyRule>(
      "fly",
      "FLy: a token beside the argmax passes where the target is unsure and agrees with the next ones. Lossy.",
      ExpectedLossless::never,
      {field("entropy", &FlyRule::entropy, number(0, 1), "Least entropy, as a share of log V."),
       integer_field("window", &FlyRule::window, 0, 64, "Following tokens that have to be the argmax.")});
  kind.surveyed = {surveyed_rule("fly window 1", FlyRule(FlyRule{}.entropy, 1))};
  return kind;
}

}  // namespace speclab
