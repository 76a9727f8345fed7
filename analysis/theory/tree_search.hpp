// The draft tree of the most tokens per time, where the time of a draft run grows with the nodes that it
// drafts from. Trees and positional acceptance are those of optimal_tree.hpp; rank_acceptance falls here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "analysis/theory/optimal_tree.hpp"

namespace speclab {

/// Times of a round's runs, in one unit, above 0 but for draft[0] = 0.
struct TreeCosts {
  /// draft[w]: a draft run over the w nodes of a level that have children, w to the most nodes of a tree.
  /// With `one_run`: the run that drafts w levels at once, w to the most levels.
  std::vector<double> draft;
  std::vector<double> verify;  ///< verify[n]: a target run over n nodes and the context
  bool one_run = false;
};

/// Searches trees of one drafter at one or several costs; what does not depend on costs is kept.
///
/// A tree is given by its caps, that is how many nodes of each level may have children, and by its number of
/// nodes. For these the best tree has children below the likeliest nodes of each level, and of all these
/// children the likeliest: exchanging two nodes of a level with what hangs on them shows it. So the search is
/// over caps: from the same cap at all levels, for every number of levels, the steepest way over caps that
/// differ by one, by one more at a level and one less at another, or by a level. Where a draft run takes as
/// long whatever it drafts from, the first of them, without caps, has the best tree (Sequoia's). Elsewhere a
/// better tree may be missed: none was in tests of all trees of up to 12 nodes, nor among all caps of 1,500
/// random problems of 22 nodes.
class TreeSearch {
 public:
  /// max_nodes, max_levels >= 1; rank_acceptance not increasing, with a sum of at most 1.
  TreeSearch(std::int32_t max_nodes, std::int32_t max_levels, std::span<const double> rank_acceptance);

  /// The tree of the most tokens per time. Of equal ones that of fewer levels, then of fewer nodes; without
  /// nodes where no tree is faster than plain decoding.
  TreeChoice best(const TreeCosts& costs);

 private:
  /// By level from 1: how many nodes may have children. The context, level 0, always has.
  using Caps = std::vector<std::int32_t>;
  struct Node {
    double reached = 0;        ///< probability that it is accepted
    std::int32_t parent = -1;  ///< among the nodes before it
    std::int32_t level = 0;    ///< of the parent
    bool first = false;        ///< of its parent's children
  };
  using Nodes = std::vector<Node>;
  /// A tree is the first `nodes` nodes of its caps.
  struct Found {
    Caps caps;
    std::size_t nodes = 0;
    double tokens_per_time = 0;
  };

  /// The likeliest nodes first, parents before their children.
  const Nodes& nodes_of(const Caps& caps);
  Nodes made_nodes(const Caps& caps) const;
  Found best_of(const Caps& caps, const TreeCosts& costs);
  /// Caps as wide as the tree itself.
  void tighten(Found& found);
  /// Where the steepest way ends, or comes to caps that were seen.
  Found climbed(Found from, const TreeCosts& costs, std::set<Caps>& seen);

  std::int32_t max_nodes_;
  std::int32_t max_levels_;
  std::vector<double> ranks_;
  std::map<Caps, Nodes> known_;
};

}  // namespace speclab
