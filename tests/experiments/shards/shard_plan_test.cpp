#include "experiments/shards/shard_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/config/cell_spec.hpp"
#include "experiments/config/cells.hpp"
#include "experiments/config/config.hpp"
#include "experiments/shards/shard_files.hpp"

using namespace speclab;

namespace {

Config config_of(const std::string& text) { return *with_sections(read_config(parse_json(text))); }

ShardPlan planned(const Config& config, int shards, Backend backend) {
  return {CellGrid(config), shards, backend};
}

Config decoding(const std::string& sweep) {
  return config_of(R"({"title": "t", "simulation": {"trials": 128, "length": 50, "batches": 64},
    "models": {"target": {"kind": "zipf", "vocab": 20}, "draft": {"kind": "mixture", "alpha": 0.7, "other": {"kind": "zipf", "reversed": true}}}, "sweep": )" +
                   sweep + "}");
}

/// The number of times that each batch of each cell is run, and the number of shards that run each cell.
struct Cover {
  std::vector<std::vector<int>> runs;
  std::vector<int> shards;
};

Cover cover_of(const ShardPlan& plan, std::size_t cells, std::uint32_t batches) {
  Cover cover{std::vector(cells, std::vector<int>(batches)), std::vector<int>(cells)};
  for (int shard = 1; shard <= plan.shards(); ++shard) {
    for (const Turn& turn : plan.turns(shard)) {
      for (const CellTask& task : turn) {
        ++cover.shards[task.cell];
        CHECK(plan.runs(task.cell, shard));
        CHECK(plan.is_cut(task.cell) == task.batches.has_value());
        const BatchSpan span = task.batches.value_or(BatchSpan{0, batches});
        for (std::uint32_t batch = span.first; batch < span.last; ++batch) ++cover.runs[task.cell][batch];
      }
    }
  }
  return cover;
}

void check_once(const Cover& cover) {
  for (const std::vector<int>& cell : cover.runs) {
    CHECK(std::all_of(cell.begin(), cell.end(), [](int runs) { return runs == 1; }));
  }
}

}  // namespace

TEST_CASE("every batch of every cell is run by exactly one shard, at equal cost") {
  const std::vector<std::string> sweeps{R"({"/gamma": [1, 2, 3, 4, 5, 6, 7]})", R"({"/gamma": [63, 1]})",
                                        R"({"/gamma": [5]})",
                                        R"({"/gamma": {"from": 1, "to": 60, "step": 1}, "/seed": [1, 2]})"};
  for (const std::string& sweep : sweeps) {
    const Config config = decoding(sweep);
    const std::size_t cells = expand(config).size();
    for (const int shards : {1, 2, 3, 7, 40}) {
      CAPTURE(sweep);
      CAPTURE(shards);
      const ShardPlan plan = planned(config, shards, Backend::cpu);
      check_once(cover_of(plan, cells, 64));
      double total = 0;
      const std::vector<double> costs = plan.costs();
      for (const double cost : costs) total += cost;
      // A cell below a quarter of a shard stays whole, which moves either end of a shard by half of the cell.
      // If the boundary is in the middle of a batch, it moves by half a batch.
      const double most = *std::max_element(costs.begin(), costs.end());
      CHECK(most <= total / shards * 1.25 + 64 * 128 * 50 / 64.0);
    }
  }
}

TEST_CASE("cells that differ in costs alone share their simulations, and stay together") {
  const Config config = decoding(R"({"/cost/c": [0.01, 0.02, 0.05, 0.1], "/gamma": [2, 4]})");
  const ShardPlan plan = planned(config, 2, Backend::cpu);
  const Cover cover = cover_of(plan, 8, 64);
  check_once(cover);
  for (std::size_t cell = 2; cell < 8; ++cell) CHECK(cover.runs[cell] == cover.runs[cell % 2]);
  double total = 0;
  for (const double cost : plan.costs()) total += cost;
  CHECK(total == doctest::Approx(128 * 50 * (3 + 5)));  // two simulations, not eight
}

TEST_CASE("cells stay whole where batches depend on one another, and on a GPU") {
  const Config few = config_of(R"({"title": "t", "simulation": {"trials": 2, "length": 1000},
    "models": {"target": {"kind": "zipf", "vocab": 20}, "draft": {"kind": "mixture", "alpha": 0.7, "other": {"kind": "zipf", "reversed": true}}}})");
  for (const auto& [config, backend] :
       {std::pair{few, Backend::cpu}, std::pair{decoding(R"({"/gamma": [5, 6]})"), Backend::cuda}}) {
    const ShardPlan plan = planned(config, 5, backend);
    for (const int shards : cover_of(plan, expand(config).size(), 64).shards) CHECK(shards == 1);
  }
}

TEST_CASE("rounds without memory are cut wherever batches end") {
  const Config config = config_of(
      R"({"title": "t", "experiment": "iid", "alpha": 0.8, "simulation": {"trials": 1, "length": 6400, "batches": 64}})");
  const Cover cover = cover_of(planned(config, 4, Backend::cpu), 1, 64);
  check_once(cover);
  CHECK(cover.shards[0] == 4);
}

TEST_CASE("a large shard takes turns, of which each has all cells of a simulation that it has any of") {
  // Costs vary along the first axis, so that cells of one simulation are far apart.
  const Config config = decoding(
      R"({"/cost/c": {"from": 0.01, "to": 0.2, "count": 3}, "/seed": {"from": 1, "to": 5000, "step": 1}})");
  const ShardPlan plan = planned(config, 2, Backend::cuda);
  check_once(cover_of(plan, 15000, 64));
  const std::vector<Turn> turns = plan.turns(1);
  CHECK(turns.size() > 1);
  for (const Turn& turn : turns) {
    CHECK(turn.size() < 4096 + 3);
    std::set<std::size_t> cells;
    for (const CellTask& task : turn) cells.insert(task.cell);
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

TEST_CASE("cells that go on until they are precise stay whole, beside others that are cut") {
  const auto with = [](const std::string& until) {
    return config_of(
        R"({"title": "t", "experiment": "iid", "alpha": 0.8, "sweep": {"/gamma": [1, 3, 5, 7]},
            "simulation": {"trials": 100, "length": 50, "batches": 20)" +
        until + "}}");
  };
  const Config config = with("");
  const Config precise = with(R"(, "until": {"half_width": 0.01})");
  for (const int shards : {1, 3, 7, 40}) {
    CAPTURE(shards);
    const Cover whole = cover_of(planned(precise, shards, Backend::cpu), 4, 20);
    check_once(whole);
    for (const int runs : whole.shards) CHECK(runs == 1);
    const Cover cut = cover_of(planned(config, shards, Backend::cpu), 4, 20);
    CHECK((shards < 7 || cut.shards[3] > 1));
  }
}
