#include "analysis/theory/optimal_tree.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <numeric>

namespace speclab {
namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

std::size_t index_of(std::int32_t number) { return static_cast<std::size_t>(number); }

/// Tables of G_l,b(n) for all l < levels, b <= branching and n <= nodes: one for each number of levels that
/// the siblings' subtrees may have, including the sibling (l = 1: leaves).
class Programme {
 public:
  Programme(std::int32_t nodes, std::int32_t levels, std::span<const double> rank_acceptance)
      : nodes_(index_of(nodes)), ranks_(rank_acceptance.size()) {
    const std::size_t row = nodes_ + 1;
    values_.assign(index_of(levels) * (ranks_ + 1) * row, impossible);
    shares_.assign(values_.size(), 0);
    std::vector<double> subtree(row);
    for (std::size_t level = 0; level < index_of(levels); ++level) {
      // Computes F: a root and its children, which have one level less.
      subtree[0] = impossible;
      for (std::size_t n = 1; n <= nodes_; ++n)
        subtree[n] = 1 + (level == 0 ? (n == 1 ? 0 : impossible) : value(level - 1, 0, n - 1));
      values_[at(level, ranks_, 0)] = 0;
      for (std::size_t rank = ranks_; rank-- > 0;) share_out(level, rank, rank_acceptance[rank], subtree);
    }
  }

  /// Returns G for siblings of `level` + 1 levels; impossible if the nodes do not fit.
  double value(std::size_t level, std::size_t rank, std::size_t n) const {
    return values_[at(level, rank, n)];
  }

  /// Returns the expected number of accepted nodes of the best tree with `nodes` nodes and `levels` levels.
  double accepted(std::int32_t nodes, std::int32_t levels) const {
    if (nodes == 0) return 0;
    return levels == 0 ? impossible : value(index_of(levels - 1), 0, index_of(nodes));
  }

  OptimalTree tree(std::int32_t nodes, std::int32_t levels) const {
    struct Family {
      std::int32_t parent;
      std::int32_t levels;
      std::size_t nodes;
    };
    OptimalTree best;
    best.expected_tokens = 1 + accepted(nodes, levels);
    std::vector<Family> queue{{-1, levels, index_of(nodes)}};
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const Family family = queue[next];
      std::size_t left = family.nodes;
      for (std::size_t rank = 0; left > 0; ++rank) {
        const std::size_t share = shares_[at(index_of(family.levels - 1), rank, left)];
        queue.push_back({static_cast<std::int32_t>(best.parents.size()), family.levels - 1, share - 1});
        best.parents.push_back(family.parent);
        left -= share;
      }
    }
    return best;
  }

 private:
  std::size_t at(std::size_t level, std::size_t rank, std::size_t n) const {
    return (level * (ranks_ + 1) + rank) * (nodes_ + 1) + n;
  }

  /// Fills G for siblings from `rank` on, given that for the siblings after it.
  void share_out(std::size_t level, std::size_t rank, double acceptance, const std::vector<double>& subtree) {
    const double* const rest = values_.data() + at(level, rank + 1, 0);
    values_[at(level, rank, 0)] = 0;
    for (std::size_t n = 1; n <= nodes_; ++n) {
      double best = impossible;
      std::size_t share = 0;
      for (std::size_t s = 1; s <= n; ++s) {
        // For an impossible subtree this is 0 times infinity, NaN, which never compares as larger.
        const double here = acceptance * subtree[s] + rest[n - s];
        if (here > best) {
          best = here;
          share = s;
        }
      }
      values_[at(level, rank, n)] = best;
      shares_[at(level, rank, n)] = static_cast<std::uint32_t>(share);
    }
  }

  std::size_t nodes_;
  std::size_t ranks_;
  std::vector<double> values_;
  std::vector<std::uint32_t> shares_;  ///< nodes of the sibling at `rank`, including itself
};

void assert_ranks([[maybe_unused]] std::span<const double> rank_acceptance) {
  assert(std::all_of(rank_acceptance.begin(), rank_acceptance.end(), [](double p) { return p >= 0; }));
  assert(std::accumulate(rank_acceptance.begin(), rank_acceptance.end(), 0.0) <= 1 + 1e-9);
}

}  // namespace

double expected_tokens(std::span<const std::int32_t> parents, std::span<const double> rank_acceptance) {
  assert_ranks(rank_acceptance);
  std::vector<std::size_t> children(parents.size() + 1, 0);  // children so far; place 0 is the context
  std::vector<double> reached(parents.size() + 1, 0);
  reached[0] = 1;
  double tokens = 1;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    assert(parents[i] >= -1 && parents[i] < static_cast<std::int32_t>(i));
    const std::size_t parent = index_of(parents[i] + 1);
    const std::size_t rank = children[parent]++;
    reached[i + 1] = rank < rank_acceptance.size() ? reached[parent] * rank_acceptance[rank] : 0;
    tokens += reached[i + 1];
  }
  return tokens;
}

std::int32_t tree_depth(std::span<const std::int32_t> parents) {
  std::vector<std::int32_t> depth(parents.size() + 1, 0);
  for (std::size_t i = 0; i < parents.size(); ++i) depth[i + 1] = depth[index_of(parents[i] + 1)] + 1;
  return *std::max_element(depth.begin(), depth.end());
}

OptimalTree optimal_tree(std::int32_t nodes, std::int32_t max_depth,
                         std::span<const double> rank_acceptance) {
  assert(nodes >= 0 && max_depth >= 0);
  assert_ranks(rank_acceptance);
  const std::int32_t levels = std::min(nodes, max_depth);
  const Programme programme(nodes, levels, rank_acceptance);
  std::int32_t fitting = nodes;
  while (programme.accepted(fitting, levels) == impossible) --fitting;
  return programme.tree(fitting, levels);
}

TreeChoice best_tree_size(std::int32_t max_nodes, std::int32_t max_depth,
                          std::span<const double> rank_acceptance, double draft_cost,
                          const std::function<double(std::int32_t nodes)>& verify_cost) {
  assert(max_nodes >= 0 && max_depth >= 0 && draft_cost >= 0);
  assert_ranks(rank_acceptance);
  const std::int32_t max_levels = std::min(max_nodes, max_depth);
  const Programme programme(max_nodes, max_levels, rank_acceptance);
  std::vector<double> verify(index_of(max_nodes) + 1);
  for (std::int32_t nodes = 0; nodes <= max_nodes; ++nodes) verify[index_of(nodes)] = verify_cost(nodes);

  TreeChoice best;
  std::int32_t best_nodes = 0;
  std::int32_t best_levels = 0;
  for (std::int32_t levels = 0; levels <= max_levels; ++levels) {
    for (std::int32_t nodes = 0; nodes <= max_nodes; ++nodes) {
      const double tokens = 1 + programme.accepted(nodes, levels);
      const double speedup = tokens / (levels * draft_cost + verify[index_of(nodes)]);
      if (!(speedup > best.tokens_per_time)) continue;
      best.tokens_per_time = speedup;
      best_levels = levels;
      best_nodes = nodes;
    }
  }
  best.tree = programme.tree(best_nodes, best_levels);
  best.depth = tree_depth(best.tree.parents);  // fewer than the allowed levels only if levels cost nothing
  return best;
}

}  // namespace speclab
