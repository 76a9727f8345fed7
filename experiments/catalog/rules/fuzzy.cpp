#include "core/rules/fuzzy.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct Fuzziness {
  Nearness divergence = Nearness::js;
  double threshold = 0.2;
};

const Typed<Nearness>& nearness_type() {
  static const auto type =
      choice<Nearness>({{"js", Nearness::js}, {"kl", Nearness::kl}, {"tv", Nearness::tv}});
  return type;
}

}  // namespace

RuleKind fuzzy_rule() {
  RuleKind kind = rule_kind<Fuzziness>(
      "fuzzy", "Fuzzy speculative decoding: accept anything where the rows are near. Lossy.",
      ExpectedLossless::never,
      {field("divergence", &Fuzziness::divergence, nearness_type(),
             "Jensen-Shannon or KL(p || q) in nats, or the total variation."),
       field("threshold", &Fuzziness::threshold, number(0, 1000), "Largest divergence that counts as near.")},
      [](const Fuzziness& parameters, const std::string&, const RuleRequest&) {
        return FuzzyRule(parameters.divergence, parameters.threshold);
      });
  kind.surveyed = {surveyed_rule("fuzzy js 0.2", Fuzziness{}),
                   surveyed_rule("fuzzy kl 0.5", Fuzziness{Nearness::kl, 0.5}),
                   surveyed_rule("fuzzy tv 0.5", Fuzziness{Nearness::tv, 0.5})};
  return kind;
}

}  // namespace speclab
