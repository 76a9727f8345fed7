#include "core/rules/importance.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind importance_rule() {
  return paths_rule_kind<ImportanceRule>(
      "importance",
      "Choose one of the i.i.d. drafts, then verify it against the distribution of the choice. Lossless, "
      "near the optimal transport bound.",
      ExpectedLossless::always);
}

}  // namespace speclab
