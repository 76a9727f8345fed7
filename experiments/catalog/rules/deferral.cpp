#include "core/rules/deferral.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind deferral_rule() {
  RuleKind kind = rule_kind<DeferralRule>(
      "deferral", "Speculative cascade: uses the draft's row unless the cascade defers to the target. Lossy.",
      ExpectedLossless::never,
      {field("deferral", &DeferralRule::deferral,
             choice<Deferral>({{"chow", Deferral::chow},
                               {"difference", Deferral::difference},
                               {"optimal", Deferral::optimal}}),
             "When the cascade defers."),
       field("alpha", &DeferralRule::alpha, number(0, 1), "Price of a deferral.")});
  const DeferralRule optimal;
  kind.surveyed = {surveyed_rule("deferral chow", DeferralRule(Deferral::chow, optimal.alpha)),
                   surveyed_rule("deferral difference", DeferralRule(Deferral::difference, optimal.alpha)),
                   surveyed_rule("deferral optimal", optimal)};
  return kind;
}

}  // namespace speclab
