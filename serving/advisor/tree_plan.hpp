// Finds a draft tree from how often the draft's first, second, ... choice is the target's token (`speclab
// plan tree`). Nodes are chosen, not drawn, as in EAGLE-2 (Li et al. 2024).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost/cost_model.hpp"
#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/table.hpp"
#include "serving/advisor/plan_result.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

struct TreeQuestion : PlannedPair {
  /// rank_shares[r]: how often, after an accepted token, the draft's choice of rank r + 1 is the target's;
  /// equal at every node (Chen et al. 2024, "Sequoia", positional acceptance).
  std::vector<double> rank_shares{};
  Operation at{};
  double memory_share = 0.9;
  int max_nodes = 64;
  int max_levels = 8;  ///< also the longest chain
  int max_batch = 256;
};

/// A tree for batches first..last: the best at the first, within 1% of the best at the others. The chain of
/// first choices is chosen in the same way.
struct TreeRow {
  int first = 1;
  int last = 1;
  int nodes = 0;  ///< drafted tokens; 0: do not speculate
  int levels = 0;
  int top_k = 0;       ///< the larger of: children of a node, nodes with children in a level
  double tokens = 1;   ///< tokens per target step, the target's own token included
  double speedup = 1;  ///< tree and chain: the smallest over these batches
  int chain_gamma = 0;
  double chain_speedup = 1;
};

struct TreePlan : MemoryFit {
  std::vector<double> rank_shares;
  std::string cost_from;
  double batch = 1;
  std::optional<double> context;  ///< empty for measured times, whose context is not known
  TreeRow best;                   ///< at the batch of the question
  std::vector<int> parents;      ///< parent of each node of the best tree; -1: the context (optimal_tree.hpp)
  std::vector<TreeRow> batches;  ///< empty if costs do not depend on the batch
  std::vector<ServerSetting> settings;
  std::vector<std::string> warnings;
};
template <>
const Typed<TreePlan>& described();

/// Returns the tree with the largest speedup found (tree_search.hpp), i.e. tokens divided by the time of a
/// round. The draft runs once per level, over the previous level's nodes that have children (Medusa heads and
/// DFlash blocks once in all, with a position for each level); the target runs once over all nodes and the
/// context. Rank shares must not rise or sum to more than 1, and number 1 to 16.
TreePlan plan_tree(const TreeQuestion& question);

std::string tree_headline(const TreePlan& plan);
Listing tree_text(const TreePlan& plan);

}  // namespace speclab
