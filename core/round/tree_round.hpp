// A round with a draft tree: draft the tree, verify it, extend the context by the accepted path. Host only.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/round/best_nodes.hpp"
#include "core/round/round.hpp"
#include "core/rules/grown_tree.hpp"
#include "core/rules/tree.hpp"

namespace speclab {

/// The tokens of a tree. Siblings for which the draft has no probability left are missing, with their
/// descendants.
template <class Real>
struct DraftedTree {
  DraftTree shape;
  std::vector<Token> tokens;         ///< by node; meaningful only for present nodes
  std::vector<std::size_t> present;  ///< present[node + 1]: number of children drafted
  std::vector<BasicRow<Real>> rows;  ///< rows[node + 1]: the draft's row after the node, if it has children
  std::int32_t count = 0;            ///< nodes present
  std::int32_t draft_runs = 0;       ///< depths at which the draft was run

  explicit DraftedTree(DraftTree tree)
      : shape(std::move(tree)),
        tokens(static_cast<std::size_t>(shape.size()), no_token),
        present(tokens.size() + 1, 0),
        rows(tokens.size() + 1) {}

  std::span<const std::int32_t> children(std::int32_t node) const {
    return std::span(shape.children(node)).first(present[list_index(node)]);
  }

  /// Replaces the end of `context`, after its first `start` tokens, by the path to `node`.
  void follow(std::int32_t node, std::size_t start, std::vector<Token>& context) const {
    const auto depth = static_cast<std::size_t>(node < 0 ? 0 : shape.depth(node));
    context.resize(start + depth);
    for (std::size_t at = start + depth; at > start; node = shape.parent(node))
      context[--at] = tokens[static_cast<std::size_t>(node)];
  }
};

/// The tree as a rule for trees reads it.
template <class Number, class Target>
class TreeView {
 public:
  using Real = Number;

  TreeView(const Target& target, const DraftedTree<Number>& drafted, std::vector<Token>& context,
           RoundScratch<Number>& scratch)
      : target_(target), drafted_(drafted), context_(context), start_(context.size()), scratch_(scratch) {
    scratch.reserve(0, drafted.rows.size());
    std::fill(scratch.targets.begin(), scratch.targets.end(), BasicRow<Number>{});
  }

  std::int32_t size() const { return drafted_.shape.size(); }
  std::int32_t parent(std::int32_t node) const { return drafted_.shape.parent(node); }
  std::int32_t depth(std::int32_t node) const { return drafted_.shape.depth(node); }
  std::span<const std::int32_t> children(std::int32_t node) const { return drafted_.children(node); }
  Token token(std::int32_t node) const { return drafted_.tokens[static_cast<std::size_t>(node)]; }
  BasicRow<Number> draft(std::int32_t node) const { return drafted_.rows[list_index(node)]; }

  /// Returns the target's row after `node`; the target computes it once.
  BasicRow<Number> target(std::int32_t node) {
    const auto at = list_index(node);
    if (scratch_.targets[at].probabilities == nullptr) {
      drafted_.follow(node, start_, context_);
      scratch_.targets[at] = target_.next(context_, scratch_.target_rows[at]);
      cut(context_, start_);
    }
    return scratch_.targets[at];
  }

 private:
  const Target& target_;
  const DraftedTree<Number>& drafted_;
  std::vector<Token>& context_;
  std::size_t start_;
  RoundScratch<Number>& scratch_;
};

/// Draws the tokens of a tree down to `depth`, siblings without replacement. Returns false if a row is
/// invalid.
template <class Real, class Draft, class Random>
bool draw_tree(const Draft& draft, std::int32_t depth, std::vector<Token>& context, Random& random,
               RoundScratch<Real>& scratch, DraftedTree<Real>& drafted) {
  const std::size_t start = context.size();
  scratch.reserve(drafted.rows.size(), 0);
  std::vector<Real> left;
  for (std::int32_t node = -1; node < drafted.shape.size(); ++node) {
    const std::int32_t here = node < 0 ? 0 : drafted.shape.depth(node);
    const bool absent = node >= 0 && drafted.tokens[static_cast<std::size_t>(node)] == no_token;
    if (absent || here >= depth || drafted.shape.children(node).empty()) continue;
    const auto at = list_index(node);
    drafted.follow(node, start, context);
    const BasicRow<Real> row = drafted.rows[at] = draft.next(context, scratch.draft_rows[at]);
    cut(context, start);
    drafted.draft_runs = std::max(drafted.draft_runs, here + 1);
    left.assign(row.probabilities, row.probabilities + row.size);
    for (const std::int32_t child : drafted.shape.children(node)) {
      const Token token =
          random.categorical(node_draw(Use::draft, child), BasicRow<Real>{left.data(), row.size});
      if (token == no_token && drafted.present[at] > 0) break;
      if (token < 0) return false;
      left[static_cast<std::size_t>(token)] = Real(0);
      drafted.tokens[static_cast<std::size_t>(child)] = token;
      ++drafted.present[at];
      ++drafted.count;
    }
  }
  return true;
}

/// Grows a tree down to `depth` (Li et al. 2024, "EAGLE-2", section 4): the `branching` most likely nodes of
/// each depth get their `branching` most likely children, and the `nodes` most likely of all are selected. A
/// node's likelihood is the draft's probability of the path to it; ties go to the earlier node, tokens to the
/// lower id.
template <class Real, class Draft>
DraftedTree<Real> grow_tree(const Draft& draft, std::int32_t depth, std::size_t branching, std::size_t nodes,
                            std::vector<Token>& context, RoundScratch<Real>& scratch) {
  assert(branching >= 1);
  const std::size_t start = context.size();
  std::vector<std::int32_t> parents;
  std::vector<Token> tokens;
  std::vector<Real> likely;
  std::vector<BasicRow<Real>> rows{{}};  // after each candidate; rows[0] follows the context
  std::vector<std::int32_t> layer{-1};
  std::vector<Token> best;  // children of one node
  const auto likelier = [&](std::int32_t a, std::int32_t b) {
    const Real& left = likely[static_cast<std::size_t>(a)];
    const Real& right = likely[static_cast<std::size_t>(b)];
    return left > right || (left == right && a < b);
  };
  std::int32_t runs = 0;
  for (; runs < depth && !layer.empty(); ++runs) {
    std::vector<std::int32_t> next;
    for (const std::int32_t node : layer) {
      std::vector<Token> path;
      for (std::int32_t up = node; up >= 0; up = parents[static_cast<std::size_t>(up)])
        path.push_back(tokens[static_cast<std::size_t>(up)]);
      context.insert(context.end(), path.rbegin(), path.rend());
      const auto at = list_index(node);
      scratch.reserve(at + 1, 0);
      const BasicRow<Real> row = rows[at] = draft.next(context, scratch.draft_rows[at]);
      cut(context, start);
      // Insertion into a sorted list: after a few tokens hardly any is better than the list's last.
      best.clear();
      Real worst(0);
      for (Token id = 0; id < row.size; ++id) {
        if (!(row[id] > worst)) continue;
        if (best.size() == branching) best.pop_back();
        best.insert(std::find_if(best.begin(), best.end(), [&](Token other) { return row[id] > row[other]; }),
                    id);
        if (best.size() == branching) worst = row[best.back()];
      }
      for (const Token token : best) {
        next.push_back(static_cast<std::int32_t>(parents.size()));
        parents.push_back(node);
        tokens.push_back(token);
        likely.push_back(node < 0 ? row[token] : Real(likely[static_cast<std::size_t>(node)] * row[token]));
        rows.push_back({});
      }
    }
    std::sort(next.begin(), next.end(), likelier);
    if (next.size() > branching) next.resize(branching);
    std::sort(next.begin(), next.end());
    layer = std::move(next);
  }

  const SelectedNodes selected = select_best_nodes<Real>(parents, likely, nodes);
  DraftedTree<Real> drafted{DraftTree(selected.parents)};
  drafted.rows[0] = rows[0];
  drafted.present[0] = drafted.shape.children(-1).size();
  for (std::size_t i = 0; i < selected.nodes.size(); ++i) {
    drafted.tokens[i] = tokens[static_cast<std::size_t>(selected.nodes[i])];
    drafted.rows[i + 1] = rows[list_index(selected.nodes[i])];
    drafted.present[i + 1] = drafted.shape.children(static_cast<std::int32_t>(i)).size();
  }
  drafted.count = drafted.shape.size();
  drafted.draft_runs = runs;
  return drafted;
}

template <class Rule>
concept GrowingRule = requires(const Rule& rule) {
  rule.branching + rule.nodes;
};

template <class Rule>
concept AnyTreeRule = GrowingRule<Rule> || requires(const Rule& rule) {
  rule.tree->size();
};

/// Runs one round of a tree; arguments and result are those of a round with one draft. gamma limits the
/// depth. The slot of a node's draws is its number + 1, so trees have fewer than 65535 nodes (asserted).
template <class Real, LanguageModel<Real> Target, LanguageModel<Real> Draft, AnyTreeRule Rule,
          RandomSourceOver<BasicRow<Real>> Random, class Watch>
Round speculative_round(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                        std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch,
                        const Watch& watch) {
  const std::size_t start = context.size();
  const auto drafted = [&] {
    if constexpr (GrowingRule<Rule>) {
      return grow_tree(draft, gamma, static_cast<std::size_t>(rule.branching),
                       static_cast<std::size_t>(rule.nodes), context, scratch);
    } else {
      DraftedTree<Real> tree(*rule.tree);
      if (!draw_tree(draft, gamma, context, random, scratch, tree)) tree.count = -1;
      return tree;
    }
  }();
  if (drafted.count < 0) return {};
  assert(drafted.shape.size() < 65535);
  TreeView<Real, Target> view(target, drafted, context, scratch);
  const TreeDecision verdict = rule.verify_tree(view, random);

  Round round{drafted.count, drafted.draft_runs, verdict.examined, 0, verdict.next};
  round.accepted = verdict.node < 0 ? 0 : drafted.shape.depth(verdict.node);
  std::vector<std::int32_t> path;
  for (std::int32_t node = verdict.node; node >= 0; node = drafted.shape.parent(node)) path.push_back(node);
  path.push_back(-1);
  for (std::size_t i = path.size(); i-- > 0;) {
    const BasicRow<Real> target_row = view.target(path[i]);
    const BasicRow<Real> draft_row = view.draft(path[i]);
    const bool examined = !view.children(path[i]).empty();
    drafted.follow(path[i], start, context);
    watch(std::span<const Token>(context), target_row, examined ? &draft_row : nullptr);
    cut(context, start);
  }
  drafted.follow(verdict.node, start, context);
  if (verdict.next >= 0) context.push_back(verdict.next);
  return round;
}

}  // namespace speclab
