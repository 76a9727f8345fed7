// Draft trees. A rule for trees defines
//     verify_tree(view, random) -> TreeDecision
// where the view has the drafted tokens and, for each node and the context (node -1), the rows of target and
// draft after it. core/round/tree_round.hpp drafts the tree and applies the verdict. Host only.
#pragma once

#include <cstdint>
#include <memory>

#include "core/distribution/owned_row.hpp"
#include "core/random/random_source.hpp"
#include "core/round/tree.hpp"
#include "core/round/verify.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

struct TreeDecision {
  std::int32_t node;      ///< the last accepted token, -1 if there is none; its ancestors are accepted too
  std::int32_t examined;  ///< positions reached: accepted tokens, and one more if children were refused there
  Token next;
};

inline Draw node_draw(Use use, std::int32_t node) { return {use, static_cast<std::uint16_t>(node + 1)}; }

/// Walks down from the context: at each node the children are tried in turn, until one is accepted or all are
/// refused. `siblings_of(node)` gives the state of a node's children: `refuse(token)`, and `left()`, the
/// weights of the token emitted when all were refused.
template <class View, class Random, class SiblingsOf>
TreeDecision walk_down(View& view, Random& random, const SiblingsOf& siblings_of) {
  std::int32_t node = -1;
  for (std::int32_t depth = 0;; ++depth) {
    const auto target = view.target(node);
    const auto children = view.children(node);
    if (children.empty())
      return {node, depth, categorical_or(random, node_draw(Use::bonus, node), target, target)};
    auto siblings = siblings_of(node);
    std::int32_t accepted = -1;
    for (const std::int32_t child : children) {
      const Token token = view.token(child);
      if (random.bernoulli(node_draw(Use::accept, child), siblings.acceptance_probability(token))) {
        accepted = child;
        break;
      }
      siblings.refuse(token);
    }
    if (accepted < 0) {
      return {node, depth + 1,
              categorical_or(random, node_draw(Use::replace, node), siblings.left(), target)};
    }
    node = accepted;
  }
}

/// Siblings drawn independently of one another (Miao et al. 2024, "SpecInfer", Algorithm 2): accepted with
/// min(1, p/q); after each refusal p <- norm((p - q)+).
template <class Real>
struct IndependentSiblings {
  OwnedRow<Real> target;
  OwnedRow<Real> draft;

  Real acceptance_probability(Token token) const {
    return acceptance_ratio(target[token], draft[token], Real(1));
  }
  /// Returns the residual's total before it is normalised; if it is 0 the target stays unchanged.
  Real refuse(Token) { return subtract_draft(target.probabilities, draft.view(), Real(1)); }
  BasicRow<Real> left() const { return target.view(); }
};

/// Siblings drawn without replacement: after each refusal q also loses the refused token.
template <class Real>
struct DrawnSiblings : IndependentSiblings<Real> {
  Real refuse(Token token) {
    const Real total = IndependentSiblings<Real>::refuse(token);
    lose(token);
    return total;
  }

 protected:
  void lose(Token token) {
    this->draft.probabilities[static_cast<std::size_t>(token)] = Real(0);
    normalise(this->draft.probabilities);
  }
};

/// The common base of rules for trees of one shape.
struct StaticTree : BonusFromTarget {
  std::shared_ptr<const DraftTree> tree = std::make_shared<const DraftTree>();

  StaticTree() = default;
  explicit StaticTree(DraftTree shape) : tree(std::make_shared<const DraftTree>(std::move(shape))) {}
};

/// Recursive rejection on a tree whose siblings were drawn without replacement (Chen et al. 2024, "Sequoia",
/// Algorithm 2; Yang et al. 2024, "Multi-candidate speculative decoding"). Lossless.
struct TreeRule : StaticTree {
  using StaticTree::StaticTree;

  template <class View, class Random>
  TreeDecision verify_tree(View& view, Random& random) const {
    return walk_down(view, random, [&view](std::int32_t node) {
      return DrawnSiblings<typename View::Real>{{copy_of(view.target(node)), copy_of(view.draft(node))}};
    });
  }
};

}  // namespace speclab
