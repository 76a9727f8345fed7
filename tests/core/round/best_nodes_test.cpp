#include "core/round/best_nodes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

struct Grown {
  std::vector<std::int32_t> parents;
  std::vector<double> scores;
};

/// Returns a random tree whose draft probabilities are 1/4, 2/4, .. 1: scores tie, also with a parent's.
Grown grown_tree(std::uint64_t seed, std::int32_t nodes) {
  Philox stream = world(seed);
  Grown tree;
  for (std::int32_t i = 0; i < nodes; ++i) {
    const auto parent = static_cast<std::int32_t>(stream() % static_cast<std::uint64_t>(i + 1)) - 1;
    const double probability = static_cast<double>(1 + stream() % 4) / 4;
    tree.parents.push_back(parent);
    tree.scores.push_back(probability * (parent < 0 ? 1 : tree.scores[static_cast<std::size_t>(parent)]));
  }
  return tree;
}

/// Returns the largest sum of scores of a connected set of `most` nodes, by trying all sets.
double best_sum(const Grown& tree, int most) {
  double best = 0;
  for (std::uint32_t set = 0; set < (1U << tree.parents.size()); ++set) {
    if (std::popcount(set) != most) continue;
    double sum = 0;
    bool connected = true;
    for (std::size_t i = 0; i < tree.parents.size(); ++i) {
      if ((set >> i & 1U) == 0) continue;
      sum += tree.scores[i];
      connected = connected && (tree.parents[i] < 0 || (set >> tree.parents[i] & 1U) == 1);
    }
    if (connected) best = std::max(best, sum);
  }
  return best;
}

}  // namespace

TEST_CASE("the selected nodes are a tree, and no connected set of as many nodes promises more") {
  constexpr std::int32_t nodes = 10;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Grown tree = grown_tree(seed, nodes);
    for (int most = 0; most <= nodes + 1; ++most) {
      const SelectedNodes selected =
          select_best_nodes<double>(tree.parents, tree.scores, static_cast<std::size_t>(most));
      const auto size = static_cast<std::size_t>(std::min(most, nodes));
      REQUIRE(selected.nodes.size() == size);
      REQUIRE(selected.parents.size() == size);
      CHECK(std::is_sorted(selected.nodes.begin(), selected.nodes.end()));
      double sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const auto node = static_cast<std::size_t>(selected.nodes[i]);
        sum += tree.scores[node];
        REQUIRE(selected.parents[i] < static_cast<std::int32_t>(i));
        const std::int32_t parent =
            selected.parents[i] < 0 ? -1 : selected.nodes[static_cast<std::size_t>(selected.parents[i])];
        CHECK(parent == tree.parents[node]);
      }
      if (most <= nodes) CHECK(sum == doctest::Approx(best_sum(tree, most)).epsilon(1e-12));
    }
  }
}

TEST_CASE("of equal scores the earlier node is selected, so that a sure child never displaces its parent") {
  const std::vector<std::int32_t> parents{-1, 0, -1, 2};
  const std::vector<double> scores{0.5, 0.5, 0.5, 0.25};
  CHECK(select_best_nodes<double>(parents, scores, 1).nodes == std::vector<std::int32_t>{0});
  CHECK(select_best_nodes<double>(parents, scores, 3).nodes == std::vector<std::int32_t>{0, 1, 2});
  CHECK(select_best_nodes<double>(parents, scores, 3).parents == std::vector<std::int32_t>{-1, 0, -1});
}
