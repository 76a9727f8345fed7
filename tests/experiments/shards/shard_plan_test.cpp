#include "experiments/shards/shard_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/config/config.hpp"
#include "experiments/shards/shard_files.hpp"

using namespace speclab;

namespace {

Config config_of(const std::string& text) { return *with_sections(read_config(parse_json(text))); }

Config decoding(const std::string& sweep) {
  return config_of(R"({"title": "t", "simulation": {"trials": 128, "length": 50, "batches": 64},
    "models": {"target": {"kind": "zipf", "vocab": 20}, "draft": {"kind": "mixture", "alpha": 0.7, "other": {"kind": "zipf", "reversed": true}}}, "sweep": )" +
                   sweep + "}");
}

/// Returns the cells that each shard runs, by its turns. Every cell must be in one of them.
std::vector<std::set<std::size_t>> cells_of(const ShardPlan& plan, int shards) {
  std::vector<std::set<std::size_t>> cells;
  std::size_t runs = 0;
  for (int shard = 1; shard <= shards; ++shard) {
    std::set<std::size_t>& own = cells.emplace_back();
    for (const Turn& turn : plan.turns(shard)) {
      for (const std::size_t cell : turn) {
        CHECK(plan.shard_of(cell) == shard);
        CHECK(own.insert(cell).second);
        ++runs;
      }
    }
  }
  CHECK(runs == plan.cells());
  return cells;
}

}  // namespace

TEST_CASE("every cell is run by exactly one shard, at equal cost") {
  const std::vector<std::string> sweeps{R"({"/gamma": [1, 2, 3, 4, 5, 6, 7]})", R"({"/gamma": [63, 1]})",
                                        R"({"/gamma": [5]})",
                                        R"({"/gamma": {"from": 1, "to": 60, "step": 1}, "/seed": [1, 2]})"};
  for (const std::string& sweep : sweeps) {
    const CellGrid grid(decoding(sweep));
    for (const int shards : {1, 2, 3, 7, 40}) {
      CAPTURE(sweep);
      CAPTURE(shards);
      double total = 0;
      double largest = 0;
      const auto cost = [&](std::size_t cell) { return grid[cell].config.gamma + 1.0; };
      for (std::size_t cell = 0; cell < grid.size(); ++cell) {
        total += cost(cell);
        largest = std::max(largest, cost(cell));
      }
      for (const std::set<std::size_t>& own : cells_of(ShardPlan(grid, shards), shards)) {
        double of_shard = 0;
        for (const std::size_t cell : own) of_shard += cost(cell);
        CHECK(of_shard <= total / shards + largest);  // half of a cell at either end
      }
    }
  }
}

TEST_CASE("cells that differ in costs alone share their simulations, and stay together") {
  const ShardPlan plan(CellGrid(decoding(R"({"/cost/c": [0.01, 0.02, 0.05, 0.1], "/gamma": [2, 4]})")), 2);
  // Two simulations, not eight: one for each shard.
  for (std::size_t cell = 0; cell < 8; ++cell) CHECK(plan.shard_of(cell) == 1 + static_cast<int>(cell % 2));
}

TEST_CASE("a large shard takes turns, of which each has all cells of a simulation that it has any of") {
  // Costs vary along the first axis, so that cells of one simulation are far apart.
  const Config config = decoding(
      R"({"/cost/c": {"from": 0.01, "to": 0.2, "count": 3}, "/seed": {"from": 1, "to": 5000, "step": 1}})");
  const ShardPlan plan(CellGrid(config), 2);
  cells_of(plan, 2);
  const std::vector<Turn> turns = plan.turns(1);
  CHECK(turns.size() > 1);
  for (const Turn& turn : turns) {
    CHECK(turn.size() < 4096 + 3);
    const std::set<std::size_t> cells(turn.begin(), turn.end());
    for (const std::size_t cell : cells) {
      for (const std::size_t same : {cell % 5000, cell % 5000 + 5000, cell % 5000 + 10000})
        CHECK(cells.contains(same));
    }
  }
}

TEST_CASE("a shard is I/N") {
  CHECK(shard_named("3/8").index == 3);
  CHECK(shard_named("3/8").count == 8);
  for (const char* const bad : {"", "3", "0/8", "9/8", "3/8/2", "-1/2", "a/b", "1/0", "1/999999", "1 /2"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(shard_named(bad), UsageError);
  }
}
