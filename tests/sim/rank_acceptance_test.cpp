#include "sim/rank_acceptance.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "sim/models/table_model.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

SimulationSize ranked_simulation(std::uint32_t trials, std::uint32_t length) {
  SimulationSize simulation;
  simulation.seed = test_seed(5);
  simulation.trials = trials;
  simulation.length = length;
  return simulation;
}

}  // namespace

TEST_CASE(
    "golden pair: the first sibling is accepted with the overlap, the second with what recursion adds") {
  // Null: counts are binomial with the exact shares .6, .1 (.7 in all without replacement) and, since three
  // siblings are the whole vocabulary, .3; seven sigmas. Shares in another order would be off by far more.
  const TableModel target(3, 0, {0.5, 0.3, 0.2});
  const TableModel draft(3, 0, {0.1, 0.3, 0.6});
  const SimulationSize simulation = ranked_simulation(40, 1000);
  const auto total = static_cast<double>(simulation.total());
  const std::vector<double> two = measure_rank_acceptance(target, draft, 2, simulation);
  CHECK(count_agrees(two[0] * total, total, 0.6));
  CHECK(count_agrees(two[1] * total, total, 0.1));
  CHECK_FALSE(count_agrees(two[1] * total, total, 0.12));
  const std::vector<double> three = measure_rank_acceptance(target, draft, 3, simulation);
  CHECK(count_agrees(three[2] * total, total, 0.3));
  CHECK(three[0] + three[1] + three[2] == doctest::Approx(1));
}

TEST_CASE("more siblings than tokens: the missing ones are never kept") {
  const TableModel point(3, 0, {0, 1, 0});
  const std::vector<double> shares = measure_rank_acceptance(point, point, 4, ranked_simulation(3, 10));
  CHECK(shares == std::vector<double>{1, 0, 0, 0});
}
