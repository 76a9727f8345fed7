#include "experiments/config/cells.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

std::string values(const std::string& axis) { return Json(axis_values(parse_json(axis), "/sweep/x")).dump(); }

std::vector<CellSpec> cells(const std::string& text) {
  Json input = parse_json(text);
  input["experiment"] = "predict";
  return expand(read_config(input));
}

std::string set_values(const CellSpec& cell) {
  std::string text;
  for (const auto& [path, value] : cell.set) text += path + "=" + value->dump() + " ";
  return text;
}

}  // namespace

TEST_CASE("each cell is what its whole config reads as") {
  // The axes set values of plain keys, values within keys that the config has or lacks, values of kinds, and
  // whole objects.
  const std::string base = R"("title": "t", "simulation": {"trials": 8, "length": 5},
    "models": {"target": {"kind": "zipf", "vocab": 20}, "draft": {"kind": "mixture", "alpha": 0.7, "other": {"kind": "zipf", "reversed": true}}})";
  const std::vector<std::string> varied{
      R"("sweep": {"/gamma": [1, 4], "/seed": [3, 4], "/cost/c": [0.1, 0.2], "/models/draft/alpha": [0.5, 0.6]})",
      R"("sweep": {"/models/target/kind": ["zipf", "uniform"], "/models/target/vocab": [20]})",
      R"("sweep": {"/models/draft": [{"kind": "uniform"}, {"kind": "zipf", "vocab": 20}], "/sampling/temperature": [0.5, 2]})",
      R"("sweep": {"/simulation/prompt/0": [1]}, "cases": [{"set": {"/simulation/prompt": [2]}}])",
      R"("cases": [{"label": "a", "set": {"/rule/kind": "block", "/gamma": 2}}, {"set": {"/engine": "fast"}}, {"label": "as it is"}])"};
  for (const std::string& more : varied) {
    CAPTURE(more);
    const Json input = parse_json("{" + base + ", " + more + "}");
    const CellGrid grid(read_config(input));
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const CellSpec cell = grid[i];
      Json whole = input;
      whole.erase("sweep");
      whole.erase("cases");
      for (const auto& [path, value] : cell.set) whole[Json::json_pointer(path)] = *value;
      CHECK(config_json(cell.config) == config_json(read_config(whole)));
    }
  }
  const auto error = [&](const std::string& more) {
    return config_error_of([&] { CellGrid(read_config(parse_json("{" + base + ", " + more + "}")))[0]; });
  };
  CHECK(error(R"("sweep": {"/gamma": [65]})").find("(in the cell gamma = 65)") != std::string::npos);
  CHECK(error(R"("sweep": {"/cost/c_hta": [1]})").find("did you mean \"c_hat\"") != std::string::npos);
}

TEST_CASE("a range has both ends and no decimal noise") {
  CHECK(values(R"({"from": 0.1, "to": 0.5, "step": 0.1})") == "[0.1,0.2,0.3,0.4,0.5]");
  CHECK(values(R"({"from": 0, "to": 1, "count": 5})") == "[0,0.25,0.5,0.75,1]");
  CHECK(values(R"({"from": 0.02, "to": 0.98, "count": 3})") == "[0.02,0.5,0.98]");
  CHECK(values(R"({"from": 1, "to": 10, "step": 3})") == "[1,4,7,10]");
  CHECK(values(R"({"from": 1, "to": 9, "step": 3})") == "[1,4,7]");
  CHECK(values(R"({"from": 3, "to": 1, "step": -1})") == "[3,2,1]");
  CHECK(values(R"({"from": 3, "to": 1, "count": 3})") == "[3,2,1]");
  CHECK(values(R"({"from": 5, "to": 5, "step": 1})") == "[5]");
  CHECK(values(R"({"from": 5, "to": 9, "count": 1})") == "[5]");
  CHECK(axis_values(parse_json(R"({"from": 0, "to": 1, "step": 0.001})"), "/").size() == 1001);
  CHECK(values(R"({"from": 1e-14, "to": 4e-14, "count": 2})") == "[1e-14,4e-14]");
  CHECK(values(R"({"from": 40000001, "to": 40000003, "step": 1})") == "[40000001,40000002,40000003]");
  CHECK(values(R"({"from": 33554432.1, "to": 33554432.3, "count": 3})") ==
        "[33554432.1,33554432.2,33554432.3]");
  CHECK(values(R"({"from": 1e299, "to": 1e299, "step": 1})") == "[1e+299]");
}

TEST_CASE("whole numbers of a range are integers, as gamma needs them") {
  for (const Json& value : axis_values(parse_json(R"({"from": 1, "to": 4, "step": 1})"), "/")) {
    CHECK(value.is_number_integer());
  }
}

TEST_CASE("a list is taken as it stands") {
  CHECK(values(R"([3, 0.5, "words", {"kind": "uniform"}])") == R"([3,0.5,"words",{"kind":"uniform"}])");
}

TEST_CASE("malformed axes") {
  const auto error = [](const std::string& axis) { return config_error_of([&] { values(axis); }); };
  CHECK(error("[]") == "/sweep/x: has no values");
  CHECK(error("5").starts_with("/sweep/x: 5 is not a list of values or a range"));
  CHECK(error(R"({"from": 0, "to": 1, "stp": 1})") ==
        "/sweep/x/stp: unknown key \"stp\" in a range; did you mean \"step\"?");
  CHECK(error(R"({"from": 0, "to": 1, "step": 1, "count": 2})") ==
        "/sweep/x: give either \"step\" or \"count\"");
  CHECK(error(R"({"from": 0, "to": 1, "count": 2.5})") ==
        "/sweep/x/count: 2.5 is not an integer >= 1 and <= 1000000");
  for (const char* axis : {R"({"from": 0, "to": 1, "step": 0})", R"({"from": 1, "to": 1, "step": 0})",
                           R"({"from": 0, "to": 1, "step": -1})", R"({"from": 0, "to": 1, "step": 1e-9})"}) {
    CHECK(error(axis).find("is not a range of 1 to 1000000 values") != std::string::npos);
  }
  for (const char* axis : {R"({"from": 0, "to": 1, "count": 0})", R"({"from": 0, "to": 1, "count": 1e9})"}) {
    CHECK(error(axis).find("/sweep/x/count") == 0);
  }
}

TEST_CASE("without cases and sweep there is one cell, the config itself") {
  const std::vector<CellSpec> all = cells(R"({"title": "t", "gamma": 3, "metrics": ["speedup"]})");
  REQUIRE(all.size() == 1);
  CHECK(all[0].label.empty());
  CHECK(all[0].set.empty());
  CHECK(all[0].config.gamma == 3);
  CHECK_FALSE(all[0].config.metrics);
}

TEST_CASE("a sweep is the Cartesian product, the last axis fastest") {
  const auto all = cells(R"({"title": "t", "sweep": {"/alpha": [0.5, 0.6], "/gamma": [1, 2, 3]}})");
  REQUIRE(all.size() == 6);
  const std::vector<std::pair<double, int>> expected{{0.5, 1}, {0.5, 2}, {0.5, 3},
                                                     {0.6, 1}, {0.6, 2}, {0.6, 3}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].config.alpha == expected[i].first);
    CHECK(all[i].config.gamma == expected[i].second);
    CHECK_FALSE(all[i].config.sweep);
  }
  CHECK(all[1].label == "alpha = 0.5, gamma = 2");
  CHECK(set_values(all[1]) == "/alpha=0.5 /gamma=2 ");
}

TEST_CASE("cases and a sweep multiply; the sweep runs inside each case") {
  const auto all = cells(R"({"title": "t", "cost": {"c": 0.1}, "sweep": {"/gamma": [1, 2]}, "cases": [
      {"label": "A", "set": {"/alpha": 0.5}, "printed": {"speedup": "2.4"}, "note": "n"},
      {"set": {"/alpha": 0.6, "/cost/c": 0.2}, "measured": {"EMP": "3"}}]})");
  REQUIRE(all.size() == 4);
  CHECK(all[0].label == "A");
  CHECK(all[1].config.gamma == 2);
  CHECK(all[1].config.cost.c == 0.1);
  CHECK(all[1].printed == OrderedMap<std::string>{{"speedup", "2.4"}});
  CHECK(all[1].note == "n");
  CHECK(all[2].label == "alpha = 0.6, c = 0.2, gamma = 1");
  CHECK(all[2].config.cost.c == 0.2);
  CHECK(all[3].measured == OrderedMap<std::string>{{"EMP", "3"}});
  CHECK(all[3].printed.empty());
}

TEST_CASE("one case's values do not leak into the next") {
  const auto all = cells(R"({"title": "t", "cases": [{"set": {"/gamma": 9}}, {}]})");
  CHECK(all[0].config.gamma == 9);
  CHECK(all[1].config.gamma == 5);
}

TEST_CASE("an error in a cell names the path and the cell") {
  CHECK(config_error_of([] { cells(R"({"title": "t", "sweep": {"/alpha": [0.5, 1.5], "/gamma": [1]}})"); }) ==
        "/alpha: 1.5 is not a number >= 0 and <= 1 (in the cell alpha = 1.5, gamma = 1)");
  CHECK(config_error_of([] { cells(R"({"title": "t", "cases": [{"set": {"/alhpa": 1}}]})"); }) ==
        "/alhpa: unknown key \"alhpa\" in config; did you mean \"alpha\"? (in the cell alhpa = 1)");
  CHECK(config_error_of([] {
          cells(R"({"title": "t", "cases": [{}, {"set": {"alpha": 1}}]})");
        }).starts_with("/cases/1/set: \"alpha\" is not a path into the config"));
  CHECK(config_error_of([] {
          cells(R"({"title": "t", "sweep": {"alpha": [1]}})");
        }).starts_with("/sweep: \"alpha\" is not a path into the config"));
}

TEST_CASE("a value that a later path would replace is refused") {
  const auto error = [](const std::string& more) {
    return config_error_of([&] { cells("{\"title\": \"t\", " + more + "}"); });
  };
  const std::string costs = R"("/cost/c": [0.1, 0.9])";
  CHECK(error("\"sweep\": {" + costs + R"(, "/cost": [{"c": 0.3}]})") ==
        "/sweep: \"/cost\" replaces what \"/cost/c\" has set; leave one of them out");
  CHECK(error(R"("cases": [{"set": {"/gamma": 1}}], "sweep": {"/gamma": [4, 5]})") ==
        "/sweep: \"/gamma\" replaces what \"/gamma\" has set; leave one of them out");
  CHECK(error(R"("cases": [{"set": {"/cost/c": 0.1, "/cost": {"c": 0.3}}}])")
            .starts_with("/cases/0/set: \"/cost\" replaces"));
  CHECK(error(R"("sweep": {"/cost": [{"c": 0.3}], "/cost/c_hat": [0.1, 0.9]})").empty());
}

TEST_CASE("keys of the config as a whole cannot differ between cells") {
  CHECK(config_error_of([] { cells(R"({"title": "t", "sweep": {"/confidence": [0.9]}})"); }) ==
        "/sweep//confidence: \"/confidence\" is the same for all cells of a config");
  CHECK(config_error_of([] { cells(R"({"title": "t", "cases": [{"set": {"/experiment": "trace"}}]})"); }) ==
        "/cases/0/set: \"/experiment\" is the same for all cells of a config");
  CHECK_FALSE(
      config_error_of([] { cells(R"({"title": "t", "cases": [{"set": {"/sweep/x": [1]}}]})"); }).empty());
}

TEST_CASE("too many cells, and none") {
  CHECK(config_error_of([] {
          cells(R"({"title": "t", "sweep": {"/alpha": {"from": 0, "to": 1, "count": 2000},
                                            "/cost/c": {"from": 0, "to": 1, "count": 2000}}})");
        }).starts_with("/sweep: 4000000 cells"));
  CHECK(config_error_of([] { cells(R"({"title": "t", "sweep": {}})"); }).starts_with("/sweep: has no paths"));
}
