#include "core/rules/margin.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct LittleAndBig {
  double fallback = 0.35;
  double rollback = 8;
};

}  // namespace

RuleKind bild_rule() {
  return rule_kind<LittleAndBig>(
      "bild",
      "Big little decoder: accept unless the draft is unsure or the target finds the token unlikely. Lossy.",
      ExpectedLossless::never,
      {field("fallback", &LittleAndBig::fallback, number(0, 1),
             "Below this largest probability of the draft the target takes over."),
       field("rollback", &LittleAndBig::rollback, number(0, 1000),
             "-log p(x) above which a token is taken back.")},
      [](const LittleAndBig& parameters, const std::string&, const RuleRequest&) {
        return BildRule(parameters.fallback, parameters.rollback);
      });
}

}  // namespace speclab
