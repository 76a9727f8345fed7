#include "experiments/tree_choice.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "analysis/theory/optimal_tree.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/laboratory.hpp"
#include "experiments/registry.hpp"

using namespace speclab;

namespace {

Json config_of(const std::string& verifier, int gamma = 3) {
  return Json::parse(R"({"title": "t", "seed": 4, "models": {"target": {"kind": "table", "rows": [[5, 3, 2]]},
    "draft": {"kind": "table", "rows": [[1, 3, 6]]}}, "cost": {"c": 0.1}, "plan": {"trials": 8, "length": 50},
    "gamma": )" + std::to_string(gamma) +
                     R"(, "verifier": )" + verifier + "}");
}

Setup build(const Json& config) {
  Registry registry;
  return registry.build(resolve(config));
}

}  // namespace

TEST_CASE("an optimal tree: acceptance by rank is measured once and becomes part of the verifier") {
  const Json config = config_of(R"({"kind": "tree", "growth": "optimal", "drafts": 2, "nodes": 6})");
  const Setup setup = build(config);
  const auto ranks = setup.verifier.at("rank_acceptance").get<std::vector<double>>();
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0] == doctest::Approx(0.6).epsilon(0.1));
  CHECK(ranks[1] == doctest::Approx(0.1).epsilon(0.3));
  const TreeRule& rule = std::get<TreeRule>(setup.rule);
  CHECK(rule.tree->parents() == optimal_tree(6, 3, ranks).parents);
  CHECK(rule.tree->depth() <= 3);
  CHECK(build(config).verifier == setup.verifier);
}

TEST_CASE("given ranks are kept, and a node's cost chooses the size") {
  const std::string ranks = R"("growth": "optimal", "nodes": 30, "rank_acceptance": [0.6, 0.1])";
  CHECK(std::get<TreeRule>(build(config_of("{\"kind\": \"tree\", " + ranks + "}")).rule).tree->size() == 14);
  const Setup dear = build(config_of("{\"kind\": \"tree\", " + ranks + R"(, "node_cost": 0.2})"));
  const TreeChoice choice = best_tree_size(30, 3, std::vector<double>{0.6, 0.1}, 0.1,
                                           [](std::int32_t nodes) { return 1 + 0.2 * nodes; });
  CHECK(std::get<TreeRule>(dear.rule).tree->parents() == choice.tree.parents);
  CHECK(choice.tree.parents.size() < 5);
}

TEST_CASE("a tree's depth follows gamma from cell to cell, and the result says what was measured") {
  Json config = config_of(R"({"kind": "tree", "growth": "optimal", "drafts": 2, "nodes": 8})");
  config["sweep"] = Json{{"/gamma", {1, 2, 3}}};
  const Json result = run_config(config, [](std::uint64_t) { return Control{}; }).result;
  const Json& cells = result.at("cells");
  for (int depth = 1; depth <= 3; ++depth) {
    const Json& counts = cells.at(static_cast<std::size_t>(depth - 1)).at("counts");
    const int nodes = depth == 1 ? 2 : depth == 2 ? 6 : 8;
    CHECK(counts.at("drafted").get<int>() == nodes * counts.at("rounds").get<int>());
    CHECK(cells.at(static_cast<std::size_t>(depth - 1)).at("verifier").contains("rank_acceptance"));
  }
}

TEST_CASE("trees that cannot be: too large, contradictory, nothing to measure on") {
  CHECK_THROWS_WITH_AS(build(config_of(R"({"kind": "tree", "drafts": 20})")),
                       doctest::Contains("more than 4096"), ConfigError);
  CHECK_THROWS_WITH_AS(build(config_of(R"({"kind": "tree", "branching": [2, 1]})")),
                       doctest::Contains("gamma is 3"), ConfigError);
  CHECK_THROWS_WITH_AS(
      build(config_of(R"({"kind": "tree", "growth": "optimal", "rank_acceptance": [0.9, 0.3]})")),
      doctest::Contains("sums to more than 1"), ConfigError);
}
