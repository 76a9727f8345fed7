// Tests the recomputed cells of closed forms.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/stop.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

/// Returns a config with `count` values of alpha, from 0.1 to 0.9, times two values of c.
Json predictions(std::size_t count) {
  return {{"title", "test"},
          {"experiment", "predict"},
          {"sweep", {{"/alpha", {{"from", 0.1}, {"to", 0.9}, {"count", count}}}, {"/cost/c", {0.05, 0.1}}}}};
}

std::string text_of(const RunResult& run) {
  std::string text;
  with_cells(run, [&](const CellSource& cells) {
    write_text(run.result, cells, [&](const std::string& piece) { text += piece; });
  });
  return text;
}

}  // namespace

TEST_CASE("closed forms that are not held are the cells that would be") {
  const std::size_t values = max_cells_held / 2 + 1;
  RunResult run = run_of(predictions(values));
  REQUIRE(run.all);
  CHECK(run.result.cells.empty());
  CHECK(run.all->size() == 2 * values);
  const std::string streamed = text_of(run);

  std::vector<Json> by_cell, by_json;
  const Experiment& experiment = *run.result.shown().experiment;
  run.all->each([&](const CellResult& cell) { by_cell.push_back(cell_json(experiment, cell)); });
  run.all->each_json([&](const Json& cell) { by_json.push_back(cell); });
  CHECK(by_cell == by_json);

  hold_cells(run);
  CHECK_FALSE(run.all);
  REQUIRE(run.result.cells.size() == 2 * values);
  CHECK(streamed == bytes_of(run.result) + "\n");

  // Each cell equals that of a small grid, whose cells are held. The grids share their ends and the middle.
  const Result few = run_of(predictions(3)).result;
  REQUIRE(few.cells.size() == 6);
  for (const std::size_t place : {0, 1, 2}) {
    for (const std::size_t c : {0, 1}) {
      CHECK(cell_json(experiment, run.result.cells[place * (values - 1) / 2 * 2 + c]) ==
            cell_json(experiment, few.cells[2 * place + c]));
    }
  }
}

TEST_CASE("a grid of as many cells as are held is held") {
  const RunResult run = run_of(predictions(max_cells_held / 2));
  CHECK_FALSE(run.all);
  CHECK(run.result.cells.size() == max_cells_held);
}

TEST_CASE("going over closed forms ends when it shall") {
  const RunResult run = run_of(predictions(max_cells_held));
  std::size_t seen = 0;
  const std::function<bool()> stop = [&] { return seen > 0; };
  const StopScope scope(&stop);
  CHECK_THROWS_AS(run.all->each([&](const CellResult&) { ++seen; }), Stopped);
  CHECK(seen <= 4096);
}
