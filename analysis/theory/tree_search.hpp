// Searches the draft tree with the most tokens per time if the time of a draft run grows with the number of
// nodes it expands. Trees and positional acceptance are those of optimal_tree.hpp, with non-increasing
// rank_acceptance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "analysis/theory/optimal_tree.hpp"

namespace speclab {

/// Times of a round's runs, in one unit; all are above 0 except draft[0] = 0.
struct TreeCosts {
  /// draft[w] is the time of a draft run over the w nodes of a level that have children, for w up to the
  /// largest number of nodes of a tree. With `one_run` it is the time of the run that drafts w levels at
  /// once, for w up to the largest number of levels.
  std::vector<double> draft;
  std::vector<double> verify;  ///< verify[n]: time of a target run over n nodes and the context
  bool one_run = false;
};

/// Searches trees of one drafter at one or several costs, and reuses results that do not depend on costs.
///
/// The search is over caps, the number of nodes of each level that may have children. For given caps and
/// number of nodes, the best tree expands the likeliest nodes of each level and contains the likeliest of all
/// their children (by an exchange argument). For every number of levels the search starts from equal caps at
/// all levels, and follows steepest ascent: a step changes one cap by 1, moves 1 from one level to another,
/// or adds or removes a level. If the time of a draft run does not depend on the expanded nodes, the uncapped
/// tree (Sequoia's) is the best. Else a better tree may be missed; none was, among all trees of up to 12
/// nodes and all caps of 1,500 random problems of 22 nodes.
class TreeSearch {
 public:
  /// Requires max_nodes, max_levels >= 1; rank_acceptance not increasing, with a sum of at most 1.
  TreeSearch(std::int32_t max_nodes, std::int32_t max_levels, std::span<const double> rank_acceptance);

  /// Returns the tree with the most tokens per time. Ties go to the tree with fewer levels, then with fewer
  /// nodes; the tree has no nodes if none has a speedup above 1.
  TreeChoice best(const TreeCosts& costs);

 private:
  /// For each level, from level 1: the number of its nodes that may have children. The context, level 0,
  /// always has children.
  using Caps = std::vector<std::int32_t>;
  struct Node {
    double reached = 0;        ///< probability that it is accepted
    std::int32_t parent = -1;  ///< index of the parent in the list
    std::int32_t level = 0;    ///< level of the parent
    bool first = false;        ///< whether it is the first of its parent's children
  };
  using Nodes = std::vector<Node>;
  /// A tree: the first `nodes` nodes for its caps.
  struct Found {
    Caps caps;
    std::size_t nodes = 0;
    double tokens_per_time = 0;
  };

  /// Returns the nodes, the likeliest first, parents before their children.
  const Nodes& nodes_of(const Caps& caps);
  Nodes made_nodes(const Caps& caps) const;
  Found best_of(const Caps& caps, const TreeCosts& costs);
  /// Reduces the caps to the widths of the tree itself.
  void tighten(Found& found);
  /// Ascends until no step improves, or until it reaches seen caps.
  Found climbed(Found from, const TreeCosts& costs, std::set<Caps>& seen);

  std::int32_t max_nodes_;
  std::int32_t max_levels_;
  std::vector<double> ranks_;
  std::map<Caps, Nodes> known_;
};

}  // namespace speclab
