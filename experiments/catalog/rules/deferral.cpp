#include "core/rules/deferral.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct DeferralChoice {
  Deferral deferral = Deferral::optimal;
  double alpha = 0.2;
};

const Typed<Deferral>& deferral_type() {
  static const auto type = choice<Deferral>(
      {{"chow", Deferral::chow}, {"difference", Deferral::difference}, {"optimal", Deferral::optimal}});
  return type;
}

}  // namespace

RuleKind deferral_rule() {
  RuleKind kind = rule_kind<DeferralChoice>(
      "deferral",
      "Speculative cascade: the draft's row stands unless the cascade defers to the target. Lossy.",
      ExpectedLossless::never,
      {field("deferral", &DeferralChoice::deferral, deferral_type(), "When the cascade defers."),
       field("alpha", &DeferralChoice::alpha, number(0, 1), "Price of a deferral.")},
      [](const DeferralChoice& parameters, const std::string&, const RuleRequest&) {
        return DeferralRule(parameters.deferral, parameters.alpha);
      });
  kind.surveyed = {surveyed_rule("deferral chow", DeferralChoice{Deferral::chow}),
                   surveyed_rule("deferral difference", DeferralChoice{Deferral::difference}),
                   surveyed_rule("deferral optimal", DeferralChoice{})};
  return kind;
}

}  // namespace speclab
