#include "core/rules/tree.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/catalog/rules/tree_shapes.hpp"

namespace speclab {

RuleKind without_replacement_rule() {
  return rule_kind<SeveralPaths>(
      "without-replacement", "Recursive rejection over paths that begin with different tokens. Lossless.",
      ExpectedLossless::always, {drafted_paths_field<SeveralPaths>()},
      [](const SeveralPaths& own, const std::string& path, const RuleRequest& request) {
        // The tree consists of chains that separate at the root.
        std::vector<std::int32_t> branching(static_cast<std::size_t>(request.gamma()), 1);
        if (!branching.empty()) branching.front() = own.paths;
        return TreeRule(tree_of(branching, path));
      });
}

}  // namespace speclab
