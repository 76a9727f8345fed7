#include "analysis/exact/transitions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/random/philox.hpp"

using namespace speclab;

namespace {

/// Returns a graph; each row lists the successors of one context.
Transitions graph_of(const std::vector<std::vector<std::int32_t>>& successors) {
  Transitions graph;
  for (const auto& row : successors) {
    for (const std::int32_t to : row) {
      graph.column.push_back(to);
      graph.probabilities.push_back(1);
    }
    graph.first.push_back(static_cast<std::int32_t>(graph.probabilities.size()));
  }
  finish(graph, 2);
  return graph;
}

std::vector<ClosedClass> classes_of(const Transitions& graph) {
  const Transitions* const only[] = {&graph};
  return closed_classes(only);
}

/// Finds classes by the definition: x is in a closed class iff every context that x reaches, reaches x.
std::vector<ClosedClass> by_definition(const std::vector<std::vector<std::int32_t>>& successors) {
  const std::size_t size = successors.size();
  std::vector<std::vector<bool>> reaches(size, std::vector<bool>(size));
  for (std::size_t x = 0; x < size; ++x) {
    reaches[x][x] = true;
    for (const std::int32_t y : successors[x]) reaches[x][static_cast<std::size_t>(y)] = true;
  }
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t x = 0; x < size; ++x) {
      for (std::size_t y = 0; y < size; ++y) {
        if (reaches[x][k] && reaches[k][y]) reaches[x][y] = true;
      }
    }
  }
  std::vector<ClosedClass> classes;
  for (std::size_t x = 0; x < size; ++x) {
    ClosedClass members;
    bool returns = true;
    for (std::size_t y = 0; y < size; ++y) {
      if (!reaches[x][y]) continue;
      members.push_back(static_cast<std::int32_t>(y));
      returns = returns && reaches[y][x];
    }
    if (returns && members.front() == static_cast<std::int32_t>(x)) classes.push_back(members);
  }
  return classes;
}

}  // namespace

TEST_CASE("closed classes by hand") {
  CHECK(classes_of(graph_of({{0}})) == std::vector<ClosedClass>{{0}});
  CHECK(classes_of(graph_of({{1}, {2}, {0}})) == std::vector<ClosedClass>{{0, 1, 2}});
  // 0 leads to {1, 2} and to {3}; 4 leads into the first.
  CHECK(classes_of(graph_of({{0, 1, 3}, {2}, {1}, {3}, {2}})) == std::vector<ClosedClass>{{1, 2}, {3}});
  // Edges of several matrices count together.
  const Transitions there = graph_of({{1}, {}});
  const Transitions back = graph_of({{}, {0}});
  const Transitions* const both[] = {&there, &back};
  CHECK(closed_classes(both) == std::vector<ClosedClass>{{0, 1}});
}

TEST_CASE("closed classes of random graphs are those of the definition, sparse and dense") {
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    Philox stream(7, Site{trial, 0, Draw{Use::world, 0}});
    const std::size_t size = 1 + stream() % 12;
    std::vector<std::vector<std::int32_t>> successors(size);
    for (auto& row : successors) {
      const std::size_t degree = 1 + stream() % 2;
      for (std::size_t i = 0; i < degree; ++i) row.push_back(static_cast<std::int32_t>(stream() % size));
    }
    Transitions graph = graph_of(successors);
    const auto expected = by_definition(successors);
    CHECK(classes_of(graph) == expected);
    finish(graph, 0);
    CHECK(graph.dense);
    CHECK(classes_of(graph) == expected);
  }
}

TEST_CASE("a path of a million contexts is followed without recursion") {
  constexpr std::int32_t size = 1'000'000;
  Transitions ring;
  for (std::int32_t x = 0; x < size; ++x) {
    ring.column.push_back((x + 1) % size);
    ring.probabilities.push_back(1);
    ring.first.push_back(x + 1);
  }
  finish(ring, 0.5);
  const auto classes = classes_of(ring);
  REQUIRE(classes.size() == 1);
  CHECK(classes[0].size() == size);
}
