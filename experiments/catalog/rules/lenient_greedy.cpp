#include "core/rules/lenience.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

namespace {

struct GreedyLenience {
  double lenience = 1;
};

}  // namespace

RuleKind lenient_greedy_rule() {
  RuleKind kind = rule_kind<GreedyLenience>(
      "lenient-greedy",
      "A.5 at temperature 0, over the target's unadjusted row: accept iff p(x) >= l max p. Lossy.",
      ExpectedLossless::never,
      {field("lenience", &GreedyLenience::lenience, number_above(0, 1), "l in (0, 1].")},
      [](const GreedyLenience& parameters, const std::string&, const RuleRequest&) {
        return GreedyLenienceRule{parameters.lenience};
      });
  kind.surveyed = {surveyed_rule("lenient-greedy l=0.5", GreedyLenience{0.5})};
  return kind;
}

}  // namespace speclab
