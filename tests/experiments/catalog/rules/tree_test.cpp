#include "core/rules/tree.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/theory/optimal_tree.hpp"
#include "experiments/run/setup.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

Json config_of(const std::string& rule, int gamma = 3) {
  return parse_json(R"({"title": "t", "seed": 4, "models": {"target": {"kind": "table", "rows": [[5, 3, 2]]},
    "draft": {"kind": "table", "rows": [[1, 3, 6]]}}, "cost": {"c": 0.1},
    "simulation": {"trials": 8, "length": 50}, "gamma": )" +
                    std::to_string(gamma) + R"(, "rule": )" + rule + "}");
}

Setup build(const Json& config) { return build_setup(read_config(config)); }

Json rule_json(const RuleConfig& rule) {
  Json json;
  write(kind_of(rule_family()), rule, json);
  return json;
}

std::vector<std::int32_t> parents_of(const Setup& setup) {
  return setup.rule.sampled.get_if<TreeRule>()->tree->parents();
}

}  // namespace

TEST_CASE("an optimal tree: acceptance by rank is measured once and becomes part of the rule") {
  const Json config = config_of(R"({"kind": "tree", "growth": "optimal", "drafts": 2, "nodes": 6})");
  const Setup setup = build(config);
  const auto ranks = rule_json(setup.rule_config).at("rank_acceptance").get<std::vector<double>>();
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0] == doctest::Approx(0.6).epsilon(0.1));
  CHECK(ranks[1] == doctest::Approx(0.1).epsilon(0.3));
  CHECK(parents_of(setup) == optimal_tree(6, 3, ranks).parents);
  CHECK(rule_json(build(config).rule_config) == rule_json(setup.rule_config));
}

TEST_CASE("given ranks are used, and a node's cost chooses the size and the depth") {
  const std::string ranks = R"("growth": "optimal", "nodes": 30, "rank_acceptance": [0.6, 0.1])";
  CHECK(parents_of(build(config_of("{\"kind\": \"tree\", " + ranks + "}"))).size() == 14);
  const Setup costly = build(config_of("{\"kind\": \"tree\", " + ranks + R"(, "node_cost": 0.2})"));
  const TreeChoice choice = best_tree_size(30, 3, std::vector<double>{0.6, 0.1}, 0.1,
                                           [](std::int32_t nodes) { return 1 + 0.2 * nodes; });
  CHECK(parents_of(costly) == choice.tree.parents);
  CHECK(choice.tree.parents.size() < 5);
  // With dear draft runs, five nodes are faster on two levels than on the four that gamma allows.
  Json dear = config_of(
      R"({"kind": "tree", "growth": "optimal", "nodes": 8, "rank_acceptance": [0.6, 0.1], "node_cost": 0.02})");
  dear["gamma"] = 4;
  dear["cost"] = {{"c", 0.3}};
  const TreeChoice wide = best_tree_size(8, 4, std::vector<double>{0.6, 0.1}, 0.3,
                                         [](std::int32_t nodes) { return 1 + 0.02 * nodes; });
  REQUIRE(wide.depth == 2);
  CHECK(parents_of(build(dear)) == wide.tree.parents);
}

TEST_CASE("a tree's depth follows gamma from cell to cell, and the result says what was measured") {
  Json config = config_of(R"({"kind": "tree", "growth": "optimal", "drafts": 2, "nodes": 8})");
  config["sweep"] = Json{{"/gamma", {1, 2, 3}}};
  const Result result = run_of(config).result;
  REQUIRE(result.cells.size() == 3);
  for (std::size_t depth = 1; depth <= 3; ++depth) {
    const CellResult& cell = result.cells[depth - 1];
    const std::uint64_t nodes = depth == 1 ? 2 : depth == 2 ? 6 : 8;
    CHECK(*cell.counts.drafted == nodes * *cell.counts.rounds);
    REQUIRE(cell.rule);
    CHECK(rule_json(*cell.rule).contains("rank_acceptance"));
  }
}

TEST_CASE("intervals of few rounds know that a tree accepts no more than its depth") {
  Json config = config_of(R"({"kind": "tree", "drafts": 3})", 2);
  config["simulation"] = {{"trials", 64}, {"length", 5}};
  const Interval tokens = *value_of(run_of(config).result.cells[0].simulated, Metric::tokens_per_target_step);
  CHECK(tokens.high <= 3);
}

TEST_CASE("trees that cannot be: too large, contradictory") {
  const auto error = [](const std::string& rule) { return config_error_of([&] { build(config_of(rule)); }); };
  CHECK(error(R"({"kind": "tree", "drafts": 20})").find("more than 4096") != std::string::npos);
  CHECK(error(R"({"kind": "tree", "branching": [2, 1]})").find("gamma is 3") != std::string::npos);
  CHECK(error(R"({"kind": "tree", "growth": "optimal", "rank_acceptance": [0.9, 0.3]})")
            .find("sums to more than 1") != std::string::npos);
  CHECK(error(R"({"kind": "tree", "branching": [2, 1, 1], "drafts": 3})").starts_with("/rule/drafts: "));
  CHECK(error(R"({"kind": "tree", "nodes": 6})").starts_with("/rule/nodes: "));
  CHECK(error(R"({"kind": "tree", "node_cost": 0.1})").starts_with("/rule/node_cost: "));
  CHECK(error(R"({"kind": "tree", "growth": "dynamic", "rank_acceptance": [0.5]})")
            .starts_with("/rule/rank_acceptance: "));
  CHECK(error(R"({"kind": "tree", "growth": "optimal", "branching": [1, 1, 1]})")
            .starts_with("/rule/branching: "));
}
