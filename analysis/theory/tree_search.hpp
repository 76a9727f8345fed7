// Searches the draft tree with the most tokens per time if the time of a draft run grows with the nodes that
// it drafts from. Trees and positional acceptance are those of optimal_tree.hpp; rank_acceptance falls here.
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

/// Searches trees of one drafter at one or several costs; it keeps results that do not depend on costs.
///
/// A tree is given by its caps, the number of nodes of each level that may have children, and by its number
/// of nodes. For these the best tree has children below the likeliest nodes of each level, and among all
/// these children the likeliest ones: exchanging two nodes of a level, with their subtrees, shows this. So
/// the search is over caps. For every number of levels it starts from the same cap at all levels, and climbs
/// the steepest way over caps that differ by one, by one more at a level and one less at another, or by a
/// level. If the time of a draft run does not depend on the nodes it drafts from, the first tree, without
/// caps, is the best (Sequoia's). Else a better tree may be missed: none was in tests of all trees of up to
/// 12 nodes, nor among all caps of 1,500 random problems of 22 nodes.
class TreeSearch {
 public:
  /// Requires max_nodes, max_levels >= 1; rank_acceptance not increasing, with a sum of at most 1.
  TreeSearch(std::int32_t max_nodes, std::int32_t max_levels, std::span<const double> rank_acceptance);

  /// Returns the tree with the most tokens per time. Ties go to the tree with fewer levels, then with fewer
  /// nodes; the tree has no nodes if none is faster than plain decoding.
  TreeChoice best(const TreeCosts& costs);

 private:
  /// For each level, from level 1: how many of its nodes may have children. The context, level 0, always has
  /// children.
  using Caps = std::vector<std::int32_t>;
  struct Node {
    double reached = 0;        ///< probability that it is accepted
    std::int32_t parent = -1;  ///< index among the nodes before it
    std::int32_t level = 0;    ///< level of the parent
    bool first = false;        ///< whether it is the first of its parent's children
  };
  using Nodes = std::vector<Node>;
  /// A tree is the first `nodes` nodes of its caps.
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
  /// Climbs until the steepest way ends, or reaches caps that were seen.
  Found climbed(Found from, const TreeCosts& costs, std::set<Caps>& seen);

  std::int32_t max_nodes_;
  std::int32_t max_levels_;
  std::vector<double> ranks_;
  std::map<Caps, Nodes> known_;
};

}  // namespace speclab
