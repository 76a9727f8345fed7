#include "sim/rank_acceptance.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/bounds.hpp"
#include "sim/models/table_model.hpp"

using namespace speclab;

namespace {

Plan plan_of(std::uint32_t trials, std::uint32_t length) {
  Plan plan;
  plan.seed = test_seed(5);
  plan.trials = trials;
  plan.length = length;
  return plan;
}

}  // namespace

TEST_CASE("golden pair: the first sibling is kept with the overlap, the second with what recursion adds") {
  // Null: counts are binomial with the exact shares .6, .1 (without replacement .7 in all) and, since three
  // siblings are the whole vocabulary, .3; seven sigmas. Shares in another order would be off by far more.
  const TableModel target(3, 0, {0.5, 0.3, 0.2});
  const TableModel draft(3, 0, {0.1, 0.3, 0.6});
  const Plan plan = plan_of(40, 1000);
  const auto total = static_cast<double>(plan.total());
  const std::vector<double> two = measure_rank_acceptance(target, draft, 2, plan);
  CHECK(count_agrees(two[0] * total, total, 0.6));
  CHECK(count_agrees(two[1] * total, total, 0.1));
  CHECK_FALSE(count_agrees(two[1] * total, total, 0.12));
  const std::vector<double> three = measure_rank_acceptance(target, draft, 3, plan);
  CHECK(count_agrees(three[2] * total, total, 0.3));
  CHECK(three[0] + three[1] + three[2] == doctest::Approx(1));
}

TEST_CASE("more siblings than tokens: the missing ones are never kept") {
  const TableModel point(3, 0, {0, 1, 0});
  const std::vector<double> shares = measure_rank_acceptance(point, point, 4, plan_of(3, 10));
  CHECK(shares == std::vector<double>{1, 0, 0, 0});
}
