#include "analysis/theory/optimal_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <queue>
#include <vector>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "core/random/philox.hpp"

using namespace speclab;

namespace {

using Parents = std::vector<std::int32_t>;

/// Returns random acceptance by rank, with a sum below 1, in random order or falling.
std::vector<double> random_ranks(std::uint64_t seed, std::size_t count, bool falling) {
  Philox stream(seed, Site{0, 0, Draw{Use::world, 0}});
  std::vector<double> ranks;
  double total = 0;
  for (std::size_t b = 0; b < count; ++b) {
    ranks.push_back(static_cast<double>(1 + stream() % 1000));
    total += ranks.back();
  }
  for (double& p : ranks) p *= 0.9 / total;
  if (falling) std::sort(ranks.begin(), ranks.end(), std::greater<>());
  return ranks;
}

std::size_t max_siblings(const Parents& parents) {
  std::vector<std::size_t> children(parents.size() + 1, 0);
  for (const std::int32_t parent : parents) ++children[static_cast<std::size_t>(parent + 1)];
  return *std::max_element(children.begin(), children.end());
}

/// Visits every list of parents of `nodes` nodes: every tree, most of them in several orders.
template <class Visit>
void for_each_tree(std::size_t nodes, Parents& parents, const Visit& visit) {
  if (parents.size() == nodes) {
    visit(parents);
    return;
  }
  const auto next = static_cast<std::int32_t>(parents.size());
  for (std::int32_t parent = -1; parent < next; ++parent) {
    parents.push_back(parent);
    for_each_tree(nodes, parents, visit);
    parents.pop_back();
  }
}

/// Returns the largest value of all trees within the limits; 0 if there is none.
double brute_force(std::size_t nodes, std::int32_t max_depth, const std::vector<double>& ranks) {
  double best = 0;
  Parents parents;
  for_each_tree(nodes, parents, [&](const Parents& tree) {
    if (tree_depth(tree) > max_depth || (nodes > 0 && max_siblings(tree) > ranks.size())) return;
    best = std::max(best, expected_tokens(tree, ranks));
  });
  return best;
}

/// Returns the value of the largest path products, for falling ranks: a sibling comes after its elder, a
/// child after its parent.
double greedy_value(std::int32_t nodes, std::int32_t max_depth, const std::vector<double>& ranks) {
  struct Node {
    double product;
    double parent_product;
    std::size_t rank;
    std::int32_t level;
    bool operator<(const Node& other) const { return product < other.product; }
  };
  std::priority_queue<Node> open;
  const auto offer = [&](double parent_product, std::size_t rank, std::int32_t level) {
    if (rank < ranks.size() && level <= max_depth)
      open.push({parent_product * ranks[rank], parent_product, rank, level});
  };
  offer(1, 0, 1);
  double value = 1;
  for (std::int32_t i = 0; i < nodes && !open.empty(); ++i) {
    const Node node = open.top();
    open.pop();
    value += node.product;
    offer(node.parent_product, node.rank + 1, node.level);
    offer(node.product, 0, node.level + 1);
  }
  return value;
}

}  // namespace

TEST_CASE("expected tokens of small trees, by hand") {
  const std::vector<double> ranks{0.5, 0.2};
  CHECK(expected_tokens(Parents{}, ranks) == 1);
  CHECK(expected_tokens(Parents{-1}, ranks) == doctest::Approx(1.5));
  CHECK(expected_tokens(Parents{-1, -1}, ranks) == doctest::Approx(1.7));
  // A third sibling is never accepted, and neither are its descendants.
  CHECK(expected_tokens(Parents{-1, -1, -1, 2}, ranks) == doctest::Approx(1.7));
  // Siblings count in the order of their indices, even if other nodes lie between.
  CHECK(expected_tokens(Parents{-1, 0, -1, 2, 2}, ranks) == doctest::Approx(1 + .5 + .25 + .2 + .1 + .04));
  CHECK(tree_depth(Parents{}) == 0);
  CHECK(tree_depth(Parents{-1, 0, -1, 1}) == 3);
}

TEST_CASE("a chain is speculative decoding with one draft: Eq. (1)") {
  for (const double alpha : {0.0, 0.3, 0.8, 1.0}) {
    for (const int gamma : {0, 1, 5, 20}) {
      Parents chain;
      for (std::int32_t i = 0; i < gamma; ++i) chain.push_back(i - 1);
      const std::vector<double> ranks{alpha};
      CHECK(expected_tokens(chain, ranks) == doctest::Approx(expected_tokens(alpha, gamma)).epsilon(1e-13));
      const OptimalTree tree = optimal_tree(gamma, 100, ranks);
      CHECK(tree.parents == chain);
    }
  }
}

TEST_CASE("no tree of up to six nodes is better: all trees tried, falling acceptance or not") {
  int rising = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::vector<double> ranks = random_ranks(seed, 1 + seed % 4, seed % 2 == 0);
    rising += std::is_sorted(ranks.rbegin(), ranks.rend()) ? 0 : 1;
    for (std::int32_t depth = 0; depth <= 4; ++depth) {
      for (std::int32_t nodes = 0; nodes <= 6; ++nodes) {
        CAPTURE(seed);
        CAPTURE(depth);
        CAPTURE(nodes);
        const OptimalTree tree = optimal_tree(nodes, depth, ranks);
        CHECK(expected_tokens(tree.parents, ranks) == doctest::Approx(tree.expected_tokens).epsilon(1e-13));
        CHECK(tree_depth(tree.parents) <= depth);
        const double best = brute_force(static_cast<std::size_t>(nodes), depth, ranks);
        if (best > 0) {
          CHECK(tree.parents.size() == static_cast<std::size_t>(nodes));
          CHECK(tree.expected_tokens == doctest::Approx(best).epsilon(1e-13));
        } else {
          // There are too many nodes for these limits: no tree with one more node exists.
          CHECK(brute_force(tree.parents.size() + 1, depth, ranks) == 0);
        }
      }
    }
  }
  CHECK(rising > 2);
}

TEST_CASE("falling acceptance: the largest path products, one after another") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const std::vector<double> ranks = random_ranks(seed, 2 + seed, true);
    for (const std::int32_t depth : {1, 3, 8, 200}) {
      for (const std::int32_t nodes : {1, 7, 40, 150}) {
        CAPTURE(nodes);
        CAPTURE(depth);
        const OptimalTree tree = optimal_tree(nodes, depth, ranks);
        CHECK(tree.expected_tokens == doctest::Approx(greedy_value(nodes, depth, ranks)).epsilon(1e-12));
        CHECK(expected_tokens(tree.parents, ranks) == doctest::Approx(tree.expected_tokens).epsilon(1e-12));
        CHECK(tree_depth(tree.parents) <= depth);
        CHECK(max_siblings(tree.parents) <= ranks.size());
      }
    }
  }
}

TEST_CASE("the greedy witness needs falling acceptance; the programme does not") {
  // The second sibling is the likely one, but it needs the first.
  const std::vector<double> ranks{0.1, 0.8};
  CHECK(optimal_tree(2, 2, ranks).expected_tokens == doctest::Approx(1.9));
  CHECK(optimal_tree(4, 2, ranks).expected_tokens == doctest::Approx(1.9 + 0.08 + 0.64));
  CHECK(optimal_tree(4, 2, ranks).parents == Parents{-1, -1, 1, 1});
  // Greedy goes down from the first sibling and never reaches the third.
  const std::vector<double> late{0.4, 0.1, 0.5};
  CHECK(greedy_value(3, 3, late) == doctest::Approx(1 + 0.4 + 0.16 + 0.1));
  CHECK(optimal_tree(3, 3, late).expected_tokens == doctest::Approx(2));
}

TEST_CASE("parents come first, in breadth-first order, and siblings together") {
  const OptimalTree tree = optimal_tree(60, 6, std::vector<double>{0.5, 0.2, 0.1, 0.05});
  CHECK(tree.parents.size() == 60);
  CHECK(std::is_sorted(tree.parents.begin(), tree.parents.end()));
  for (std::size_t i = 0; i < tree.parents.size(); ++i) CHECK(tree.parents[i] < static_cast<std::int32_t>(i));
}

TEST_CASE("limits: no nodes, no levels, no ranks, more nodes than fit") {
  const std::vector<double> ranks{0.5, 0.2};
  CHECK(optimal_tree(0, 5, ranks).parents.empty());
  CHECK(optimal_tree(5, 0, ranks).parents.empty());
  CHECK(optimal_tree(5, 5, {}).parents.empty());
  CHECK(optimal_tree(100, 1, ranks).parents == Parents{-1, -1});
  CHECK(optimal_tree(100, 2, ranks).parents.size() == 6);
  CHECK(optimal_tree(5, 0, ranks).expected_tokens == 1);
  // Ranks that are never accepted still allow nodes.
  CHECK(optimal_tree(3, 1, std::vector<double>{0.5, 0, 0}).parents.size() == 3);
}

TEST_CASE("the best size is the best of all sizes and depths") {
  const std::vector<double> ranks = random_ranks(4, 4, true);
  const auto verify_cost = [](std::int32_t nodes) { return 1 + 0.004 * std::pow(nodes, 1.3); };
  for (const double draft_cost : {0.0, 0.02, 0.1, 0.6}) {
    CAPTURE(draft_cost);
    double best = 0;
    for (std::int32_t depth = 0; depth <= 6; ++depth) {
      for (std::int32_t nodes = 0; nodes <= 40; ++nodes) {
        const OptimalTree tree = optimal_tree(nodes, depth, ranks);
        best = std::max(best,
                        tree.expected_tokens / (tree_depth(tree.parents) * draft_cost +
                                                verify_cost(static_cast<std::int32_t>(tree.parents.size()))));
      }
    }
    const TreeChoice choice = best_tree_size(40, 6, ranks, draft_cost, verify_cost);
    CHECK(choice.tokens_per_time == doctest::Approx(best).epsilon(1e-12));
    CHECK(choice.depth == tree_depth(choice.tree.parents));
    CHECK(choice.tokens_per_time ==
          doctest::Approx(expected_tokens(choice.tree.parents, ranks) /
                          (choice.depth * draft_cost +
                           verify_cost(static_cast<std::int32_t>(choice.tree.parents.size()))))
              .epsilon(1e-12));
  }
}

TEST_CASE("one sibling and free verification: the optimal gamma of Thm 3.8") {
  for (const double alpha : {0.4, 0.7, 0.9}) {
    for (const double c : {0.02, 0.1}) {
      const TreeChoice choice =
          best_tree_size(60, 60, std::vector<double>{alpha}, c, [](std::int32_t) { return 1.0; });
      const OptimalGamma expected = optimal_gamma(alpha, c);
      CHECK(choice.depth == expected.gamma);
      CHECK(choice.tokens_per_time == doctest::Approx(expected.speedup.value()).epsilon(1e-12));
    }
  }
}

TEST_CASE("drafting that costs more than it saves: no tree at all") {
  const TreeChoice choice =
      best_tree_size(30, 5, std::vector<double>{0.3, 0.1}, 2.0, [](std::int32_t) { return 1.0; });
  CHECK(choice.tree.parents.empty());
  CHECK(choice.depth == 0);
  CHECK(choice.tokens_per_time == 1);
}

TEST_CASE("512 nodes, 16 levels and 16 siblings take well under a second") {
  const std::vector<double> ranks = random_ranks(9, 16, true);
  const std::clock_t start = std::clock();  // processor time, which other programs do not use up
  const OptimalTree tree = optimal_tree(512, 16, ranks);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(tree.parents.size() == 512);
  CHECK(tree.expected_tokens == doctest::Approx(greedy_value(512, 16, ranks)).epsilon(1e-12));
  CHECK(seconds < 0.9);
}
