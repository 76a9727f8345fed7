#include "kernels/lab/expected_walks.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/random/random_source.hpp"
#include "core/rules/grown_tree.hpp"
#include "core/rules/traversal.hpp"
#include "kernels/lab/made_overlap.hpp"
#include "kernels/verify/walk_counter.hpp"

namespace speclab {

namespace {

/// A request as core's rules for trees see it. Rows are made, and tokens picked, when a walk reaches them.
struct MadeRequest {
  using Real = double;

  const KernelWorkloadInfo& workload;
  const MadeLogits& how;
  const DraftTree& tree;
  std::int32_t ids;
  std::int32_t request;
  std::vector<std::optional<MadeRows>> rows = std::vector<std::optional<MadeRows>>(list_index(tree.size()));
  std::vector<Token> tokens = std::vector<Token>(static_cast<std::size_t>(tree.size()), no_token);

  const std::vector<std::int32_t>& children(std::int32_t node) const { return tree.children(node); }
  std::int32_t parent(std::int32_t node) const { return tree.parent(node); }
  Row target(std::int32_t node) { return {rows_at(node).target.data(), ids}; }
  Row draft(std::int32_t node) { return {rows_at(node).draft.data(), ids}; }
  Token token(std::int32_t node) {
    const auto at = static_cast<std::size_t>(node);
    if (tokens[at] == no_token) pick_children(tree.parent(node));
    return tokens[at];
  }

  const MadeRows& rows_at(std::int32_t node) {
    std::optional<MadeRows>& made = rows[list_index(node)];
    if (!made) {
      // The noise was tuned on rows below 100, so these are others.
      constexpr std::int64_t first = 100;
      const std::int64_t row = first + std::int64_t{request} * (tree.size() + 1) + node + 1;
      made = made_rows(how, row, ids, Dtype::f32, workload.filters);
    }
    return *made;
  }

  /// Picks the children's tokens: drawn without replacement, or the likeliest.
  void pick_children(std::int32_t node) {
    std::vector<double> left = rows_at(node).draft;
    SampledRandomSource random = sampled_random_source(how.seed, static_cast<std::uint32_t>(request), 0);
    for (const std::int32_t child : tree.children(node)) {
      const Token token = workload.chosen
                              ? static_cast<Token>(std::max_element(left.begin(), left.end()) - left.begin())
                              : random.categorical(node_draw(Use::draft, child), Row{left.data(), ids});
      tokens[static_cast<std::size_t>(child)] = token;
      left[static_cast<std::size_t>(token)] = 0;
    }
  }
};

/// A node of traversal. It has no rows if they are not read: leaves and nodes out of reach have none.
struct CountedSiblings : TraversedSiblings<double> {
  MadeRequest& made;
  WalkCounter& counter;
  std::int32_t node;
  std::size_t refusals = 0;

  double acceptance_probability(Token token) const {
    counter.tries(node);
    return TraversedSiblings::acceptance_probability(token);
  }
  void refuse(Token token) {
    counter.refuses(node, refusals++);
    TraversedSiblings::refuse(token);
  }
  Row left() const { return target.size == 0 ? made.target(node) : TraversedSiblings::left(); }
};

TreeDecision traversed(MadeRequest& made, SampledRandomSource& random, WalkCounter& counter) {
  return traverse(made, random, [&](std::int32_t node, double reach) {
    OwnedRow<double> target({});
    OwnedRow<double> draft({});
    if (reach > 0 && !made.children(node).empty()) {
      target = copy_of(made.target(node));
      draft = copy_of(made.draft(node));
    }
    return CountedSiblings{{{{std::move(target), std::move(draft)}}, reach}, made, counter, node};
  });
}

}  // namespace

BenchOutcome expected_outcome(const BenchMethod& method, const KernelPoint& point, std::int32_t ids,
                              std::int32_t requests) {
  const KernelWorkloadInfo& workload = info_of(point.workload);
  const DraftTree tree = draft_plan(point).tree;
  if (!method.branches()) return expected_outcome(point.gamma, point.alpha);
  MadeLogits how{.spread = workload.spread};
  how.noise = noise_for_overlap(how, ids, point.alpha, workload.filters);
  BenchResults results{tree.size(), {}, {}, {}};
  std::vector<BenchVerdict> verdicts;
  for (std::int32_t request = 0; request < requests; ++request) {
    MadeRequest made{workload, how, tree, ids, request};
    SampledRandomSource random = sampled_random_source(how.seed, static_cast<std::uint32_t>(request), 0);
    WalkCounter counter(tree);  // for traversal only
    const TreeDecision verdict = !method.path_tells() ? traversed(made, random, counter)
                                 : workload.chosen    ? GrownTreeRule{}.verify_tree(made, random)
                                                      : TreeRule{}.verify_tree(made, random);
    std::vector<std::int32_t> path;
    for (std::int32_t node = verdict.node; node >= 0; node = tree.parent(node)) path.push_back(node);
    std::reverse(path.begin(), path.end());
    verdicts.push_back({path, verdict.next, 1, counter.ends(verdict.node)});
    results.add(std::move(path), verdict.next);
  }
  return outcome_of(method, tree, results, verdicts);
}

BenchOutcome Expectations::at(const BenchMethod& method, const KernelPoint& point) {
  const std::int32_t ids = std::min(point.vocab, max_expected_ids);
  const auto [known, added] =
      known_.try_emplace({method.name, point.workload, point.gamma, ids, point.alpha});
  if (added) known->second = expected_outcome(method, point, ids);
  return known->second;
}

}  // namespace speclab
