#include "core/rules/fuzzy.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind fuzzy_rule() {
  RuleKind kind = rule_kind<FuzzyRule>(
      "fuzzy", "Fuzzy speculative decoding: accept any token if the two rows are close. Lossy.",
      ExpectedLossless::never,
      {field("divergence", &FuzzyRule::divergence,
             choice<Nearness>({{"js", Nearness::js}, {"kl", Nearness::kl}, {"tv", Nearness::tv}}),
             "Jensen-Shannon or KL(p || q) in nats, or the total variation."),
       field("threshold", &FuzzyRule::threshold, number(0, 1000),
             "Largest divergence that counts as close.")});
  kind.surveyed = {surveyed_rule("fuzzy js 0.2", FuzzyRule{}),
                   surveyed_rule("fuzzy kl 0.5", FuzzyRule(Nearness::kl, 0.5)),
                   surveyed_rule("fuzzy tv 0.5", FuzzyRule(Nearness::tv, 0.5))};
  return kind;
}

}  // namespace speclab
