// Rules that choose among several drafted paths, or verify a draft tree from its leaves.
#include "core/rules/gbv.hpp"
#include "core/rules/importance.hpp"
#include "core/rules/k_seq.hpp"
#include "core/rules/recursive.hpp"
#include "core/rules/traversal.hpp"
#include "core/rules/tree.hpp"
#include "experiments/catalog/rules/rule_entry.hpp"
#include "experiments/catalog/rules/tree_shapes.hpp"

namespace speclab {

RuleKind recursive_rule() {
  return paths_rule_kind<RecursiveRule>(
      "recursive", "Recursive rejection over i.i.d. drafts (SpecInfer). Lossless.", ExpectedLossless::always);
}

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

RuleKind k_seq_rule() {
  return paths_rule_kind<KSeqRule>(
      "k-seq", "Sequential selection among i.i.d. drafts at the scale rho* (SpecTr). Lossless.",
      ExpectedLossless::always);
}

RuleKind importance_rule() {
  return paths_rule_kind<ImportanceRule>(
      "importance",
      "Choose one of the i.i.d. drafts, then verify it against the distribution of the choice. Lossless, near the optimal transport bound.",
      ExpectedLossless::always);
}

RuleKind gbv_rule() {
  return paths_rule_kind<GbvRule>(
      "gbv",
      "Greedy block verification: the path of highest p/q among i.i.d. ones, verified as a block. Lossless.",
      ExpectedLossless::always);
}

RuleKind traversal_rule() {
  return rule_kind<Branching>(
      "traversal", "Traversal verification of a draft tree, from the leaves to the root. Lossless.",
      ExpectedLossless::always, branching_fields<Branching>("Children of every node."),
      [](const Branching& own, const std::string& path, const RuleRequest& request) {
        return TraversalRule(tree_of(own, request.gamma(), path));
      });
}

}  // namespace speclab
