#include "core/rules/recursive.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"

namespace speclab {

RuleKind recursive_rule() {
  return paths_rule_kind<RecursiveRule>(
      "recursive", "Recursive rejection over i.i.d. drafts (SpecInfer). Lossless.", ExpectedLossless::always);
}

}  // namespace speclab
