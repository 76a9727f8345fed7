#include "core/rules/greedy.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind greedy_rule() {
  return rule_kind<GreedyRule>("greedy",
                               "Accept iff the token is the target's argmax. Lossless at temperature 0.",
                               ExpectedLossless::at_temperature_zero);
}

}  // namespace speclab
