#include "core/rules/fly.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Loose {
  double entropy = 0.3;
  std::int32_t window = 6;
};

}  // namespace

RuleKind fly_rule() {
  RuleKind kind = rule_kind<Loose>(
      "fly",
      "FLy: a token beside the argmax passes where the target is unsure and agrees with the next ones. Lossy.",
      ExpectedLossless::never,
      {field("entropy", &Loose::entropy, number(0, 1), "Least entropy, as a share of log V."),
       integer_field("window", &Loose::window, 0, 64, "Following tokens that have to be the argmax.")},
      [](const Loose& parameters, const std::string&, const RuleRequest&) {
        return FlyRule(parameters.entropy, parameters.window);
      });
  kind.surveyed = {surveyed_rule("fly window 1", Loose{.window = 1})};
  return kind;
}

}  // namespace speclab
