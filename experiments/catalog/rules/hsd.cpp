#include "core/rules/hsd.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind hsd_rule() {
  RuleKind kind = rule_kind<HsdRule>(
      "hsd",
      "Hierarchical verification: block verification whose last token is accepted by the uncapped ratio. Lossy.",
      ExpectedLossless::never,
      {field("reading", &HsdRule::reading,
             choice<HsdReading>({{"program", HsdReading::program}, {"pseudocode", HsdReading::pseudocode}}),
             "The authors' program or their pseudocode.")});
  kind.surveyed.push_back(surveyed_rule("hsd pseudocode", HsdRule(HsdReading::pseudocode)));
  return kind;
}

}  // namespace speclab
