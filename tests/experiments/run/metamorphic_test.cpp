// Tests, for every experiment, changes of a config that must not change its result, and changes that change
// it in a known way.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/support/machine.hpp"
#include "experiments/shards/shard_run.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns documents of a few words, for the experiment that needs a text. A third of them suffices for
/// intervals.
std::string documents() {
  std::string text;
  for (int document = 0; document < 100; ++document) {
    for (int i = 0; i < 60; ++i) text += i * (document + 3) % 7 < 3 ? "the sea " : "was calm . ";
    text += "\f\n";
  }
  return text;
}

/// Returns a small config with several cells for each experiment: the base config below with the experiment's
/// changes. Experiments that are not listed sweep gamma.
std::map<std::string, Json> small_configs(const TempFile& text) {
  const std::map<std::string, std::string> changes{
      {"decode", R"({"sweep": {"/gamma": [1, 3], "/models/draft/epsilon": [0.2, 0.6]}})"},
      {"iid", R"({"alpha": 0.7, "sweep": {"/gamma": [1, 3], "/alpha": [0.4, 0.9]}})"},
      {"acceptance", R"({"sweep": {"/models/draft/epsilon": [0.2, 0.6], "/models/target/seed": [4, 5]}})"},
      {"predict", R"({"alpha": 0.7, "sweep": {"/gamma": [1, 3], "/cost/c": [0.1, 0.2]}})"},
      {"optimal_gamma",
       R"({"search": {"max_gamma": 3}, "models": {"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]]},
                    "draft": {"kind": "table", "rows": [[0.1, 0.3, 0.6]]}}, "sweep": {"/cost/c": [0.1, 0.4], "/seed": [1, 2]}})"},
      {"trace", R"({"trace": {"gammas": [2], "tokens": 12}, "sweep": {"/seed": [1, 2]}})"},
      {"rules",
       R"({"rules": {"equality_test": false}, "sweep": {"/rule": [{"kind": "token"}, {"kind": "block"},
                    {"kind": "lenient", "lenience": 0.5}], "/gamma": [1, 2]}})"},
      {"beam", R"({"beam": {"width": 2, "draft_width": 2, "length": 6}, "sweep": {"/beam/draft_width": [2, 3],
                   "/gamma": [1, 2]}})"},
      {"schedules",
       R"({"alpha": 0.7, "schedules": {"compare": [{"kind": "speculative"}, {"kind": "dsi"}, {"kind": "pearl"}]},
                        "simulation": {"trials": 12, "length": 200}, "sweep": {"/cost/c": [0.1, 0.3], "/gamma": [2, 4]}})"},
      {"serving",
       R"({"alpha": 0.7, "serving": {"requests_per_second": 20, "prompt": 30, "output": 12, "length_variation": 1, "requests": 60,
                        "settle": 6, "runs": 3, "cost": {"kind": "steps", "step": 2, "position": 0.2, "prompt_token": 0.01, "draft_run": 0.1}},
                        "sweep": {"/serving/policy/kind": ["fixed", "goodput"], "/gamma": [1, 3]}})"},
      {"compare", R"({"compare": {"tasks": [{"name": "text", "corpus": {"hold_out": 3}, "sequences": 4,
                      "tokens": 20, "prompt_tokens": 5}],
                      "drafters": [{"kind": "lookup", "rule": {"kind": "greedy"}},
                                   {"kind": "model", "model": {"kind": "bigram"}, "c": 0.1}],
                      "gammas": [1, 3], "batches": 2}})"},
      {"printed", R"({"printed": {"quantity": "percent_saved"}, "sweep": {"/printed/from": [["4.17"], ["5"]],
                      "/printed/to": [["3.67"], ["6"]]}})"},
      {"scaling", R"({"sweep": {"/scaling/scale": [10, 1e5], "/scaling/format": ["f32", "f16"]}})"}};
  std::map<std::string, Json> configs;
  for (const Experiment* experiment : experiments()) {
    const std::string& name = experiment->name;
    if (!experiment->resumable) continue;  // its results are measured times
    Json& config = configs[name] = parse_json(R"({"title": "t", "seed": 7, "gamma": 2, "cost": {"c": 0.1},
        "models": {"target": {"kind": "markov", "vocab": 5, "concentration": 2, "seed": 4},
                   "draft": {"kind": "mixture", "epsilon": 0.4, "other": {"kind": "uniform"}}},
        "simulation": {"trials": 12, "length": 60, "batches": 4}})");
    const auto change = changes.find(name);
    config.update(parse_json(change != changes.end() ? change->second : R"({"sweep": {"/gamma": [1, 3]}})"));
    config["experiment"] = name;
    if (name == "compare" || name == "schedules" || name == "serving") config.erase("models");
    if (name == "compare") config["compare"]["tasks"][0]["corpus"]["file"] = text.path().string();
    config = read_part(config);
  }
  return configs;
}

Result run_on(const Json& config, int threads) {
  const ThreadLimit limit(threads);
  return run_of(config).result;
}

/// Returns the cells by the values that they set, without parts that depend on the order of axes.
std::map<std::string, Json> by_values(const Result& result) {
  std::map<std::string, Json> cells;
  for (const CellResult& cell : result.cells) {
    Json json = cell_json(*result.shown().experiment, cell);
    std::map<std::string, std::string> set;
    for (const auto& [path, value] : cell.set) set[path] = value->dump();
    json.erase("label");
    json.erase("set");
    cells[Json(set).dump() + (cell.set.empty() ? cell.label : "")] = json;
  }
  return cells;
}

/// Returns the sweep with its axes, and their values, in reverse order.
Json reversed_sweep(const Json& sweep) {
  Json reversed = Json::object();
  std::vector<std::pair<std::string, Json>> axes;
  for (const auto& [path, values] : sweep.items()) axes.emplace_back(path, values);
  std::reverse(axes.begin(), axes.end());
  for (auto& [path, values] : axes) {
    std::reverse(values.begin(), values.end());
    reversed[path] = values;
  }
  return reversed;
}

double value(const CellResult& cell, Metric metric) { return find(cell.simulated, metric)->estimate; }

}  // namespace

TEST_CASE("every experiment has the same bytes on 1, 2 and 5 threads, and gone on with from any cells") {
  const TempFile text(documents());
  const std::map<std::string, Json> configs = small_configs(text);
  for (const auto& [name, config] : configs) {
    INFO(name);
    const Result whole = run_on(config, 2);
    REQUIRE(whole.cells.size() >= 2);
    CHECK(bytes_of(run_on(config, 1)) == bytes_of(whole));
    CHECK(bytes_of(run_on(config, 5)) == bytes_of(whole));
    std::string text_in_pieces;
    write_text(whole, HeldCells(whole), [&](const std::string& piece) { text_in_pieces += piece; });
    CHECK(text_in_pieces == parse_json(text_in_pieces).dump(1) + "\n");
    const Result from_text = read_result(parse_json(text_in_pieces));
    for (std::size_t kept = 0; kept < whole.cells.size(); ++kept) {
      for (const bool alone : {false, true}) {
        Result part = from_text;
        for (std::size_t i = 0; i < part.cells.size(); ++i)
          part.cells[i].partial = alone ? i != kept : i > kept;
        const Result resumed =
            run_config(
                read_config(config), [](std::uint64_t) { return Control{}; }, going_on_from(part))
                .result;
        CHECK(bytes_of(resumed) == bytes_of(whole));
      }
    }
  }
}

TEST_CASE("every experiment takes as many steps as it announces") {
  const TempFile text(documents());
  for (const auto& [name, config] : small_configs(text)) {
    INFO(name);
    std::uint64_t announced = 0;
    std::atomic<std::uint64_t> done{0};
    const auto control_for = [&](std::uint64_t total) {
      announced = total;
      return Control{.stop = [] { return false; }, .progress = [&](std::uint64_t more) { done += more; }};
    };
    run_config(read_config(config), control_for);
    CHECK(done == announced);
  }
}

TEST_CASE("every experiment has the bytes of one process when three share it") {
  const TempFile text(documents());
  const auto folder = std::filesystem::temp_directory_path() / "speclab_metamorphic_shards";
  const auto control = [](std::uint64_t) { return Control{}; };
  for (const auto& [name, config] : small_configs(text)) {
    INFO(name);
    const Config shared = *with_sections(read_config(config));
    std::filesystem::remove_all(folder);
    for (int shard = 1; shard <= 3; ++shard) {
      CHECK(
          run_shard(shared, {.folder = folder, .shard = {shard, 3}, .command = "", .control_for = control}));
    }
    CHECK(bytes_of(merge_shards(folder).result) == bytes_of(run_on(config, 2)));
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("every experiment goes on until intervals are narrow, or refuses to") {
  const TempFile text(documents());
  for (auto& [name, config] : small_configs(text)) {
    INFO(name);
    config["simulation"]["trials"] = 16;
    config["simulation"]["until"] = {
        {"metric", "alpha_overlap"}, {"half_width", 0.5}, {"max_rounds", 100000}};
    if (name == "iid") config["simulation"]["until"]["metric"] = "alpha_examined";
    if (!reads_key(*find_experiment(name), "simulation/until")) {
      CHECK(config_error_of([&] { run_of(config); }).starts_with("/simulation"));
      continue;
    }
    for (const CellResult& cell : run_of(config).result.cells) {
      REQUIRE(cell.until);
      CHECK(cell.until->reached);
    }
  }
}

TEST_CASE("cells do not depend on the order of the axes") {
  const TempFile text(documents());
  for (const auto& [name, config] : small_configs(text)) {
    if (!config.contains("sweep")) continue;
    INFO(name);
    Json shuffled = config;
    shuffled["sweep"] = reversed_sweep(config.at("sweep"));
    const auto cells = by_values(run_on(config, 2));
    CHECK(cells.size() >= 2);
    CHECK(by_values(run_on(shuffled, 2)) == cells);
  }
}

TEST_CASE("i.i.d. acceptances: the positions of γ are the first ones of γ + 1, draw by draw") {
  const Result result = run_of(parse_json(R"({"title": "t", "experiment": "iid", "alpha": 0.8,
      "simulation": {"trials": 40, "length": 500}, "sweep": {"/gamma": [3, 4]}})"))
                            .result;
  const auto& fewer = result.cells[0].positions;
  const auto& more = result.cells[1].positions;
  REQUIRE(fewer.size() == 3);
  REQUIRE(more.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(fewer[i].unconditional->estimate == more[i].unconditional->estimate);
    CHECK(fewer[i].unconditional->low == more[i].unconditional->low);
  }
}

TEST_CASE("one model as target and draft: everything is accepted, whatever the model") {
  for (const char* model : {R"({"kind": "markov", "vocab": 6, "concentration": 1, "seed": 3})",
                            R"({"kind": "zipf", "vocab": 50, "exponent": 1.1})",
                            R"({"kind": "dirichlet", "vocab": 8, "concentration": 0.5, "seed": 2})"}) {
    for (const char* rule : {"token", "block"}) {
      const Json pair{{"target", parse_json(model)}, {"draft", parse_json(model)}};
      const Json config{{"title", "t"},
                        {"models", pair},
                        {"gamma", 4},
                        {"rule", {{"kind", rule}}},
                        {"simulation", {{"trials", 8}, {"length", 50}}}};
      const Result result = run_of(config).result;
      INFO(model, " ", rule);
      CHECK(value(result.cells[0], Metric::tokens_per_target_step) == 5);
      CHECK(value(result.cells[0], Metric::alpha_examined) == 1);
      if (rule == std::string("token"))
        CHECK(value(result.cells[0], Metric::alpha_overlap) == doctest::Approx(1).epsilon(1e-9));
    }
  }
}

TEST_CASE("names of tokens do not matter: α of permuted tables is the same, and simulations of them agree") {
  const char* as_is = R"({"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]]},
                          "draft": {"kind": "table", "rows": [[0.1, 0.3, 0.6]]}})";
  const char* permuted = R"({"target": {"kind": "table", "rows": [[0.2, 0.5, 0.3]]},
                             "draft": {"kind": "table", "rows": [[0.6, 0.1, 0.3]]}})";
  std::vector<CellResult> cells;
  for (const char* models : {as_is, permuted}) {
    const Json config{{"title", "t"},
                      {"models", parse_json(models)},
                      {"gamma", 3},
                      {"confidence", 0.9999999},
                      {"simulation", {{"trials", 64}, {"length", 2000}}}};
    cells.push_back(run_of(config).result.cells[0]);
  }
  CHECK(cells[0].exact_alpha.value() == doctest::Approx(cells[1].exact_alpha.value()).epsilon(1e-12));
  for (const auto& [metric, interval] : cells[0].simulated) {
    const Interval& other = *find(cells[1].simulated, metric);
    INFO(metric_name(metric));
    CHECK(interval.low <= other.high);
    CHECK(other.low <= interval.high);
  }
}

TEST_CASE("α from three estimators: overlap, examined and exact agree; drafted is another quantity") {
  const Result result = run_of(parse_json(R"({"title": "t", "gamma": 4, "confidence": 0.9999999,
      "models": {"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]]},
                 "draft": {"kind": "table", "rows": [[0.1, 0.3, 0.6]]}},
      "simulation": {"trials": 64, "length": 4000}})"))
                            .result;
  const CellResult& cell = result.cells[0];
  const double exact = cell.exact_alpha.value();
  CHECK(value(cell, Metric::alpha_overlap) == doctest::Approx(exact).epsilon(1e-9));
  const Interval& examined = *find(cell.simulated, Metric::alpha_examined);
  CHECK(examined.low <= exact);
  CHECK(exact <= examined.high);
  CHECK(find(cell.simulated, Metric::alpha_drafted)->high < exact);
}

TEST_CASE("twice the trials: twice the rounds, and narrower intervals") {
  Json config = parse_json(R"({"title": "t", "gamma": 3, "experiment": "decode",
      "models": {"target": {"kind": "markov", "vocab": 5, "concentration": 2, "seed": 4},
                 "draft": {"kind": "mixture", "epsilon": 0.4, "other": {"kind": "uniform"}}},
      "simulation": {"trials": 64, "length": 200}})");
  const CellResult once = run_of(config).result.cells[0];
  config["simulation"]["trials"] = 128;
  const CellResult twice = run_of(config).result.cells[0];
  CHECK(*twice.counts.rounds == 2 * *once.counts.rounds);
  CHECK(*twice.counts.accepted > *once.counts.accepted);
  CHECK(find(twice.simulated, Metric::speedup)->half_width() <
        find(once.simulated, Metric::speedup)->half_width());
}
