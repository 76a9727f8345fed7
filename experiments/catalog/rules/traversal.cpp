#include "core/rules/traversal.hpp"

#include <optional>

#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/catalog/rules/tree_shapes.hpp"

namespace speclab {

namespace {

struct Branching {
  std::int32_t drafts = 2;
  std::optional<std::vector<std::int32_t>> branching;
};

}  // namespace

RuleKind traversal_rule() {
  return rule_kind<Branching>(
      "traversal", "Traversal verification of a draft tree, from the leaves to the root. Lossless.",
      ExpectedLossless::always,
      {drafts_field<Branching>("Children of every node."),
       field("branching", &Branching::branching, list(integer<std::int32_t>(1, 1024), 1, 64),
             "Children of a node at each depth, instead of \"drafts\" at every one.")},
      [](const Branching& parameters, const std::string& path, const RuleRequest& request) {
        return TraversalRule(
            tree_of(branching_of(parameters.branching, parameters.drafts, request.gamma(), path), path));
      });
}

}  // namespace speclab
