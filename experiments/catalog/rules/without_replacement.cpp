#include "core/rules/tree.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/catalog/rules/tree_shapes.hpp"

namespace speclab {

RuleKind without_replacement_rule() {
  return rule_kind<SeveralDrafts>(
      "without-replacement", "Recursive rejection over paths that begin with different tokens. Lossless.",
      ExpectedLossless::always, {drafted_paths_field()},
      [](const SeveralDrafts& parameters, const std::string& path, const RuleRequest& request) {
        // Chains that part at the root.
        std::vector<std::int32_t> branching(static_cast<std::size_t>(request.gamma()), 1);
        if (!branching.empty()) branching.front() = parameters.drafts;
        return TreeRule(tree_of(branching, path));
      });
}

}  // namespace speclab
