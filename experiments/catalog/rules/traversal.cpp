#include "core/rules/traversal.hpp"

#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/catalog/rules/tree_shapes.hpp"

namespace speclab {

RuleKind traversal_rule() {
  return rule_kind<Branching>(
      "traversal", "Traversal verification of a draft tree, from the leaves to the root. Lossless.",
      ExpectedLossless::always, branching_fields<Branching>("Children of every node."),
      [](const Branching& own, const std::string& path, const RuleRequest& request) {
        return TraversalRule(tree_of(own, request.gamma(), path));
      });
}

}  // namespace speclab
