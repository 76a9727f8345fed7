#include "core/rules/recursive.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

const RuleKind& recursive_rule() {
  static const RuleKind kind = paths_rule_kind<RecursiveRule>(
      "recursive", "Recursive rejection over i.i.d. drafts (SpecInfer). Lossless.", ExpectedLossless::always);
  return kind;
}

}  // namespace speclab
