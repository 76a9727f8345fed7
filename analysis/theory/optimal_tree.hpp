// Draft trees as data, and the search for the best tree (Chen et al. 2024, "Sequoia").
//
// A tree is a list of parents: node i is a drafted token, parents[i] < i is its parent's index, -1 for the
// context. Nodes of one parent are siblings, drafted in the order of their indices. The tree of m nodes is
// verified by one target run over m + 1 positions.
//
// Everything here depends on Sequoia's assumption of positional acceptance: given that the parent is
// accepted, the b-th sibling (b = 0, 1, ...) is the accepted one with probability rank_acceptance[b], the
// same at every node. Siblings beyond the list are never accepted. Values are non-negative with a sum of at
// most 1; they need not fall with b.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace speclab {

/// Returns tokens emitted per round: 1 + the sum over nodes of the product of rank_acceptance along their
/// path, since this product is the probability that the node is accepted, and the target adds one token.
double expected_tokens(std::span<const std::int32_t> parents, std::span<const double> rank_acceptance);

/// Returns the levels of a tree: 0 without nodes. The draft runs once for each.
std::int32_t tree_depth(std::span<const std::int32_t> parents);

struct OptimalTree {
  std::vector<std::int32_t> parents;  ///< in breadth-first order
  double expected_tokens = 1;
};

/// Returns the tree with the largest value of expected_tokens among those of `nodes` nodes, at most
/// `max_depth` levels and at most rank_acceptance.size() siblings each; it has fewer nodes if `nodes` do not
/// fit. nodes, max_depth >= 0. F_l(n) is the expected number of accepted nodes in the best subtree of n nodes
/// and l levels, given that its root is accepted. G_l,b(n) is the same for n nodes divided among the siblings
/// from rank b on, which have l levels (Sequoia's tree construction, with siblings taken one at a time):
///
///     F_l(n)   = 1 + G_(l-1),0(n - 1)
///     G_l,b(n) = max over s = 1..n of  P[b] F_l(s) + G_l,(b+1)(n - s),    G_l,b(0) = 0
///
/// Takes O(nodes^2 * max_depth * branching) time and O(nodes * max_depth * branching) memory. Equal values go
/// to the smaller subtree of the earlier sibling. If rank_acceptance falls with b, greedily taking the
/// largest path products gives the same value; dynamic programming is also right for measured values, which
/// may not fall.
OptimalTree optimal_tree(std::int32_t nodes, std::int32_t max_depth, std::span<const double> rank_acceptance);

struct TreeChoice {
  OptimalTree tree;
  std::int32_t depth = 0;      ///< its levels
  double tokens_per_time = 0;  ///< divide by 1 / verify_cost(0) for the speedup
};

/// Returns the size and depth that maximise expected tokens per time,
///
///     E / (depth * draft_cost + verify_cost(nodes)),
///
/// over 0..max_nodes nodes and 0..max_depth levels (Sequoia's hardware-aware optimiser). draft_cost >= 0 is
/// the time of one level of drafting and verify_cost(m) > 0 that of a target run over m nodes and the
/// context, in the same unit. Equal speedups go to the smaller depth, then to the smaller tree; 0 nodes means
/// no speculation. One dynamic program serves all sizes and depths.
TreeChoice best_tree_size(std::int32_t max_nodes, std::int32_t max_depth,
                          std::span<const double> rank_acceptance, double draft_cost,
                          const std::function<double(std::int32_t nodes)>& verify_cost);

}  // namespace speclab
