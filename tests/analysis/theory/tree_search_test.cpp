// Tests the search for the best tree, if drafting takes longer for wider levels, against all trees and all
// caps.
#include "analysis/theory/tree_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

using namespace speclab;

namespace {

using Draft = std::function<double(double width)>;

TreeCosts costs_of(std::int32_t nodes, const Draft& draft, const std::function<double(double)>& verify) {
  TreeCosts costs{{0}, {verify(0)}};
  for (std::int32_t n = 1; n <= nodes; ++n) {
    costs.draft.push_back(draft(n));
    costs.verify.push_back(verify(n));
  }
  return costs;
}

/// Returns tokens per time, counted again from the parents.
double speed_of(const std::vector<std::int32_t>& parents, const std::vector<double>& ranks,
                const TreeCosts& costs) {
  std::vector<std::size_t> level(parents.size() + 1, 0);
  std::vector<int> children(parents.size() + 1, 0);
  std::vector<std::size_t> wide(parents.size() + 1, 0);
  std::size_t depth = 0;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const auto parent = static_cast<std::size_t>(parents[i] + 1);
    level[i + 1] = level[parent] + 1;
    depth = std::max(depth, level[i + 1]);
    if (++children[parent] == 1) ++wide[level[parent]];
  }
  double time = costs.verify[parents.size()];
  if (costs.one_run) {
    time += costs.draft[depth];
  } else {
    for (const std::size_t width : wide) time += costs.draft[width];
  }
  return expected_tokens(parents, ranks) / time;
}

/// Returns the best of all trees of up to `nodes` nodes in breadth-first order; every tree has such an order.
double best_of_all(std::size_t nodes, std::int32_t levels, const std::vector<double>& ranks,
                   const TreeCosts& costs) {
  double best = 0;
  std::vector<std::int32_t> parents;
  const std::function<void()> visit = [&] {
    best = std::max(best, speed_of(parents, ranks, costs));
    if (parents.size() == nodes) return;
    const std::int32_t from = parents.empty() ? -1 : parents.back();
    for (std::int32_t parent = from; parent < static_cast<std::int32_t>(parents.size()); ++parent) {
      parents.push_back(parent);
      if (tree_depth(parents) <= levels &&
          std::count(parents.begin(), parents.end(), parent) <= static_cast<std::ptrdiff_t>(ranks.size()))
        visit();
      parents.pop_back();
    }
  };
  visit();
  return best;
}

std::vector<double> falling(std::mt19937_64& random, std::size_t count) {
  std::vector<double> ranks;
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += ranks.emplace_back(0.01 + double(random() % 1000) / 1000);
  const double all = 0.3 + 0.69 * double(random() % 1000) / 1000;
  for (double& rank : ranks) rank *= all / sum;
  std::sort(ranks.rbegin(), ranks.rend());
  return ranks;
}

/// Returns times of draft runs: constant, growing, with steps, as by a roofline, or growing less and less.
Draft draft_kind(std::uint64_t kind, double scale, double bend) {
  switch (kind % 5) {
    case 0:
      return [=](double) { return scale; };
    case 1:
      return [=](double width) { return scale * (1 + 3 * bend * (width - 1)); };
    case 2:
      return [=](double width) { return scale * std::ceil(width / (1 + std::floor(4 * bend))); };
    case 3:
      return [=](double width) { return scale * (0.2 + std::max(1.0, width * bend)); };
    default:
      return [=](double width) { return scale * std::pow(width, bend); };
  }
}

}  // namespace

TEST_CASE("no tree of up to eight nodes is faster: all are tried, at constant, growing and roofline costs") {
  std::mt19937_64 random(54);
  const auto uniform = [&] { return double(random() % 100000) / 100000; };
  for (std::uint64_t kind = 0; kind < 120; ++kind) {
    const std::vector<double> ranks = falling(random, 1 + random() % 4);
    const double bend = uniform();
    const double knee = 2 + 6 * uniform();
    const double slope = uniform();
    const std::int32_t levels = 1 + static_cast<std::int32_t>(random() % 8);
    const TreeCosts costs = costs_of(8, draft_kind(kind, 0.02 + 0.6 * uniform(), bend),
                                     [&](double n) { return 1 + slope * std::max(n + 1 - knee, 0.0); });
    TreeSearch search(8, levels, ranks);
    const TreeChoice found = search.best(costs);
    CAPTURE(kind);
    CHECK(found.tokens_per_time ==
          doctest::Approx(speed_of(found.tree.parents, ranks, costs)).epsilon(1e-12));
    CHECK(tree_depth(found.tree.parents) <= levels);
    CHECK(found.tokens_per_time == doctest::Approx(best_of_all(8, levels, ranks, costs)).epsilon(1e-12));
  }
}

TEST_CASE("no tree of up to twelve nodes is faster where caps of several levels differ") {
  std::mt19937_64 random(57);
  const auto uniform = [&] { return double(random() % 100000) / 100000; };
  for (std::uint64_t kind = 0; kind < 20; ++kind) {
    const std::vector<double> ranks = falling(random, 3);
    const TreeCosts costs = costs_of(12, draft_kind(1 + kind % 4, 0.02 + 0.1 * uniform(), uniform()),
                                     [](double n) { return 1 + 0.02 * n; });
    TreeSearch search(12, 4, ranks);
    CAPTURE(kind);
    CHECK(search.best(costs).tokens_per_time ==
          doctest::Approx(best_of_all(12, 4, ranks, costs)).epsilon(1e-12));
  }
}

TEST_CASE("where one run drafts all levels, every tree of up to seven nodes is tried, too") {
  std::mt19937_64 random(55);
  for (int i = 0; i < 20; ++i) {
    const std::vector<double> ranks = falling(random, 3);
    TreeCosts costs = costs_of(
        7, [](double levels) { return 0.1 + 0.05 * levels; }, [](double n) { return 1 + 0.02 * n; });
    costs.one_run = true;
    TreeSearch search(7, 5, ranks);
    CAPTURE(i);
    CHECK(search.best(costs).tokens_per_time ==
          doctest::Approx(best_of_all(7, 5, ranks, costs)).epsilon(1e-12));
  }
}

TEST_CASE("without costs of width it is the programme's tree, at any size") {
  std::mt19937_64 random(56);
  for (int i = 0; i < 6; ++i) {
    const std::vector<double> ranks = falling(random, 4);
    const double c = 0.01 * std::pow(4, i % 4);
    const auto verify = [](double n) { return 1 + 0.01 * n; };
    TreeSearch search(40, 6, ranks);
    const TreeChoice found = search.best(costs_of(
        40, [&](double) { return c; }, verify));
    const TreeChoice witness = best_tree_size(40, 6, ranks, c, verify);
    CAPTURE(i);
    CHECK(found.tokens_per_time == doctest::Approx(witness.tokens_per_time).epsilon(1e-12));
    CHECK(found.tree.parents.size() == witness.tree.parents.size());
    CHECK(found.depth == witness.depth);
  }
}

TEST_CASE("no tree at all where none is faster than plain decoding") {
  TreeSearch search(8, 4, std::vector<double>{0.3, 0.1});
  const TreeChoice found = search.best(costs_of(
      8, [](double) { return 0.9; }, [](double) { return 1; }));
  CHECK(found.tree.parents.empty());
  CHECK(found.tokens_per_time == 1);
  TreeSearch none(8, 4, std::vector<double>{0.0});
  CHECK(none.best(costs_of(
                      8, [](double) { return 0; }, [](double) { return 1; }))
            .tokens_per_time == 1);
}
