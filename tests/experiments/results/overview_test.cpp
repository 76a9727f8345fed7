#include "experiments/results/result_section.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

const RunResult& large_run() {
  static const RunResult large = [] {
    RunResult run = run_of(Json::parse(R"({"title": "Large", "experiment": "predict", "sweep": {
    "/alpha": {"from": 0.1, "to": 0.9, "count": 300}, "/gamma": {"from": 1, "to": 9, "step": 1},
    "/cost/c": {"from": 0.01, "to": 0.2, "count": 10}}})"));
    hold_cells(run);
    return run;
  }();
  return large;
}

}  // namespace

TEST_CASE("a page of a large result shows cells at equal distances, both ends of each axis among them") {
  const Result& result = large_run().result;
  const Overview overview = overview_of(result, HeldCells(result));
  CHECK(overview.sample.cells.size() <= 3000);
  CHECK(overview.sample.cells.size() > 2000);
  CHECK(overview.sample.cells.front().label == result.cells.front().label);
  CHECK(overview.sample.cells.back().label == result.cells.back().label);
  std::map<std::string, int> values;
  for (const CellResult& cell : overview.sample.cells) {
    for (const auto& [path, value] : cell.set) ++values[path + value->dump()];
  }
  // The sample is a grid again: each value of an axis occurs in equally many cells.
  for (const auto& [value, count] : values) {
    if (value.starts_with("/gamma")) CHECK(count == static_cast<int>(overview.sample.cells.size() / 9));
  }
  const Section section = result_section(large_run(), "large");
  const std::string page = html({"Large", "", {}, {section}});
  CHECK(page.size() < 1'000'000);
  CHECK(page.find("27,000 cells are more than a page can show") != std::string::npos);
}

TEST_CASE("a result's page has the command and the GPU of its timings") {
  RunResult run = run_of(parse_json(R"({"title": "t", "experiment": "predict", "alpha": 0.5})"));
  const auto facts_of = [&] {
    std::map<std::string, std::string> facts;
    for (const auto& [name, value] : result_page(run, result_section(run, "result")).facts)
      facts[name] = value;
    return facts;
  };
  run.timings.command = "speclab run t.json --seed 4";
  CHECK(facts_of().at("Command") == "speclab run t.json --seed 4");
  CHECK_FALSE(facts_of().contains("GPU"));
  const Section section = result_section(run, "result");
  CHECK(std::find(section.notes.begin(), section.notes.end(),
                  "Seed 1. Redraw: speclab run t.json --seed 4") != section.notes.end());
  run.timings.device =
      DeviceTimings{.name = "H", .compute_capability = "9.0", .driver = "13.0", .runtime = "12.9"};
  CHECK(facts_of().at("GPU") == "H, driver 13.0, runtime 12.9");
}
