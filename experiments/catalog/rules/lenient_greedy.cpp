#include "core/rules/lenience.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind lenient_greedy_rule() {
  using Rule = GreedyLenienceRule;
  RuleKind kind = rule_kind<Rule>(
      "lenient-greedy",
      "A.5 at temperature 0, over the target's unadjusted row: accept iff p(x) >= l max p. Lossy.",
      ExpectedLossless::never, {field("lenience", &Rule::lenience, number_above(0, 1), "l in (0, 1].")});
  kind.surveyed = {surveyed_rule("lenient-greedy l=0.5", Rule{0.5})};
  return kind;
}

}  // namespace speclab
