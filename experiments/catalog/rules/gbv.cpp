#include "core/rules/gbv.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind gbv_rule() {
  return paths_rule_kind<GbvRule>(
      "gbv",
      "Greedy block verification: the path of highest p/q among i.i.d. ones, verified as a block. Lossless.",
      ExpectedLossless::always);
}

}  // namespace speclab
