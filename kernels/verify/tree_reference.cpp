#include "kernels/verify/tree_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "core/rules/grown_tree.hpp"
#include "core/rules/sibling_residual.hpp"
#include "core/rules/traversal.hpp"
#include "kernels/verify/margin_random_source.hpp"
#include "kernels/verify/reference.hpp"
#include "kernels/verify/walk_counter.hpp"

namespace speclab {

namespace {

/// A request as `walk_down` sees it. Rows have one more id than the vocabulary, of probability 0, which
/// stands for drafted ids outside the vocabulary.
class TreeRequest {
 public:
  using Real = double;

  TreeRequest(const TreeBatch& tree, std::int64_t request, DraftTree shape)
      : tree_(tree), request_(request), shape_(std::move(shape)), rows_(list_index(shape_.size())) {}

  const DraftTree& shape() const { return shape_; }
  std::span<const std::int32_t> children(std::int32_t node) const { return shape_.children(node); }
  std::int32_t parent(std::int32_t node) const { return shape_.parent(node); }
  Token token(std::int32_t node) const {
    const Token token = tree_.batch.drafted_token(request_, node);
    return token < 0 || token >= tree_.batch.vocab ? tree_.batch.vocab : token;
  }
  Row target(std::int32_t node) { return row(rows_[list_index(node)].target, true, node + 1); }
  Row draft(std::int32_t node) {
    return row(rows_[list_index(node)].draft, false, tree_.draft_position(request_, node + 1));
  }

 private:
  struct RowsOfNode {
    std::vector<double> target, draft;
  };

  Row row(std::vector<double>& kept, bool of_target, std::int32_t position) {
    if (kept.empty()) {
      kept = probabilities(tree_.batch, of_target, request_, position);
      kept.push_back(0);
    }
    return {kept.data(), tree_.batch.vocab + 1};
  }

  const TreeBatch& tree_;
  std::int64_t request_;
  DraftTree shape_;
  std::vector<RowsOfNode> rows_;
};

/// Wraps core's siblings. Each refusal tells the random source how much is left, records in the flags whether
/// it was inevitable, and is counted.
template <class Siblings, class Random>
struct MeasuredSiblings : Siblings {
  Random& random;
  std::uint32_t& flags;
  WalkCounter& counter;
  std::int32_t node;
  /// Unit of the draws of this node and of those after it.
  double unit = 1;
  std::size_t refusals = 0;

  double acceptance_probability(Token token) const {
    random.unit = unit;
    counter.tries(node);
    return Siblings::acceptance_probability(token);
  }
  void refuse(Token token) {
    note_impossible(token);
    // Below this, the rest of the draft is summed.
    if constexpr (!independent && drawn) shrink(std::max(1 - this->draft[token], min_draft_difference));
    // If nothing is left, rounding decides.
    if constexpr (traversed) {
      // The reach of the node, and a_r p_r of all ids, are divided by this sum.
      const double unreached = 1 - this->reach;
      shrink(Siblings::refuse(token) + unreached);
    } else {
      shrink(Siblings::refuse(token));
    }
    counter.refuses(node, refusals++);
    random.unit = unit;
  }
  auto left() const {
    // A row from which nothing was taken is as exact as any; after refusals its errors are those of a_r p_r.
    if constexpr (traversed) random.unit = refusals == 0 ? 1 : unit * this->reach;
    return Siblings::left();
  }

 private:
  static constexpr bool drawn = !std::is_same_v<Siblings, ChosenSiblings<double>>;
  static constexpr bool independent = std::is_same_v<Siblings, IndependentSiblings<double>>;
  static constexpr bool traversed = std::is_same_v<Siblings, TraversedSiblings<double>>;

  void shrink(double left) {
    if (!std::isnan(left)) unit *= std::clamp(left, 0.0, 1.0);
  }
  /// Notes why a token is impossible. In an invalid row nothing is tried.
  void note_impossible(Token token) {
    if (std::isnan(this->target[0])) return;
    if constexpr (drawn) {
      if (std::isnan(this->draft[0])) return;
    }
    if (token + 1 == this->target.size) {
      flags |= flag_token_out_of_range;
    } else if constexpr (drawn) {
      if (this->draft[token] == 0) flags |= flag_zero_draft_probability;
    }
  }
};

template <class Random>
TreeDecision walk_request(const TreeBatch& tree, TreeRequest& view, Random& random, std::uint32_t& flags,
                          WalkCounter& counter) {
  const auto walk = [&]<class Siblings>(const auto& make) {
    return walk_down(view, random, [&](std::int32_t node) {
      random.unit = 1;
      return MeasuredSiblings<Siblings, Random>{make(node), random, flags, counter, node};
    });
  };
  const auto drawn = [&](std::int32_t node) {
    return IndependentSiblings<double>{copy_of(view.target(node)), copy_of(view.draft(node))};
  };
  if (tree.method == TreeMethod::traversal) {
    return traverse(view, random, [&](std::int32_t node, double reach) {
      // In single precision a smaller reach is 0, so that nothing below the node is tried or flagged.
      if (reach < double{std::numeric_limits<float>::denorm_min()}) reach = 0;
      const OwnedRow<double> none({});
      const bool leaf = view.children(node).empty();
      return MeasuredSiblings<TraversedSiblings<double>, Random>{
          {{{copy_of(view.target(node)), leaf ? none : copy_of(view.draft(node))}}, reach},
          random,
          flags,
          counter,
          node,
          random.unit};
    });
  }
  if (tree.batch.certain_drafts()) {
    return walk.template operator()<ChosenSiblings<double>>(
        [&](std::int32_t node) { return ChosenSiblings<double>{copy_of(view.target(node))}; });
  }
  if (tree.siblings == Siblings::independent)
    return walk.template operator()<IndependentSiblings<double>>(drawn);
  return walk.template operator()<DrawnSiblings<double>>(
      [&](std::int32_t node) { return DrawnSiblings<double>{drawn(node)}; });
}

}  // namespace

std::vector<TreeReferenceDecision> verify_tree_reference(const TreeBatch& tree) {
  std::vector<TreeReferenceDecision> verdicts(static_cast<std::size_t>(tree.batch.requests));
  for (std::int64_t request = 0; request < tree.batch.requests; ++request) {
    TreeReferenceDecision& verdict = verdicts[static_cast<std::size_t>(request)];
    const std::int32_t nodes = tree.batch.length(request);
    if (nodes < 0 || nodes > tree.batch.gamma) {
      verdict.flags = flag_length_out_of_range;
      continue;
    }
    std::vector<std::int32_t> parents;
    for (std::int32_t node = 0; node < nodes; ++node) {
      if (!tree.node_valid(request, node)) verdict.flags = flag_invalid_tree;
      parents.push_back(tree.parent(request, node));
    }
    if (verdict.flags != 0) continue;
    TreeRequest view(tree, request, DraftTree(std::move(parents)));
    MarginRandomSource random([&](Draw draw) { return tree_uniform_of(tree, request, draw); });
    // A uniform of 1 counts as one below it, which a rounded sum can refuse.
    random.one_is_exact = false;
    WalkCounter counter(view.shape());
    const TreeDecision found = walk_request(tree, view, random, verdict.flags, counter);
    verdict.met = counter.ends(found.node);
    for (std::int32_t node = found.node; node >= 0; node = view.parent(node)) verdict.path.push_back(node);
    std::reverse(verdict.path.begin(), verdict.path.end());
    verdict.next = found.next;
    if (found.next == invalid_token) verdict.flags |= flag_invalid_row;
    verdict.margin = random.margin;
  }
  return verdicts;
}

}  // namespace speclab
