// Whatever a config says that cannot be run is refused before a model is built. The models here take for
// ever: building one is an error. That bounds the work, on every machine.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/model_file.hpp"
#include "experiments/run/run_config.hpp"
#include "experiments/verify/exact/exact_result.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

struct Endless {
  std::optional<std::int32_t> vocab;
};

const bool added_endless = [] {
  model_family().add(stored_rows_kind<Endless>(kind_entry<ModelKind, Endless>(
      "endless", "A model that nobody lives to see.", {vocab_field<Endless>()},
      [](const Endless&, const std::string&, const ModelRequest&) -> BuiltModel {
        throw std::logic_error("built");
      })));
  return true;
}();

Config with(const std::string& patch) {
  Json config = parse_json(R"({"title": "t", "gamma": 2, "simulation": {"trials": 8, "length": 10},
      "models": {"target": {"kind": "endless", "vocab": 100}, "draft": {"kind": "uniform"}}})");
  const Json change = parse_json(patch);
  if (change.contains("experiment")) config["experiment"] = change["experiment"];
  config = read_part(config);
  config.merge_patch(change);
  return read_config(config);
}

struct Refusal {
  const char* patch;
  const char* path;
};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all{
      {R"({"models": {"draft": {"kind": "mixture", "other": {"kind": "uniform"}}}})", "/models/draft: "},
      {R"({"models": {"draft": {"kind": "mixture", "alpha": 0.5, "other": {"kind": "cached", "base": {"kind": "uniform"}}}}})",
       "/models/draft/alpha: "},
      {R"({"models": {"draft": {"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform", "vocab": 7}}}})",
       "/models/draft/other: "},
      {R"({"models": {"draft": {"kind": "cached", "base": {"kind": "mixture", "other": {"kind": "uniform"}}}}})",
       "/models/draft/base: "},
      {R"({"models": {"target": {"kind": "mixture", "vocab": null, "epsilon": 0.5, "other": {"kind": "endless", "vocab": 9}}}})",
       "/models/target/base: "},
      {R"({"models": {"target": {"vocab": null}}})", "/models/target/vocab: "},
      {R"({"models": {"draft": {"vocab": 101}}})", "/models/draft: "},
      {R"({"models": {"draft": {"kind": "point", "token": 100}}})", "/models/draft/token: "},
      {R"({"models": {"draft": {"kind": "table"}}})", "/models/draft: "},
      {R"({"models": {"draft": {"kind": "table", "rows": [[0.5, 0.5], [1]]}}})", "/models/draft/rows/1: "},
      {R"({"models": {"draft": {"kind": "table", "rows": [[0.5, 0.5]]}}})", "/models/draft: "},
      {R"({"models": {"draft": {"kind": "bigram"}}})", "/corpus: "},
      {R"({"models": {"draft": {"kind": "bigram", "corpus": {"file": "no such file"}}}})",
       "/models/draft/corpus/file: "},
      {R"({"models": {"draft": {"kind": "table", "file": "no such file"}}})", "/models/draft/file: "},
      {R"({"models": {"draft": {"kind": "arpa", "file": "no such file"}}})", "/models/draft/file: "},
      {R"({"models": {"draft": {"kind": "cached", "base": {"kind": "arpa", "file": "no such file"}}}})",
       "/models/draft/base/file: "},
      {R"({"simulation": {"prompt": [1, 100]}})", "/simulation/prompt/1: "},
      {R"({"simulation": {"prompt": "words"}})", "/simulation/prompt: "},
      {R"({"simulation": {"prompt_tokens": 3}})", "/corpus: "},
      {R"({"rule": {"kind": "sigmoid", "alpha": 0.6, "beta": 0.5}})", "/rule/beta: "},
      {R"({"simulation": {"trials": 1, "until": {"half_width": 0.1}}})", "/simulation/trials: "},
      {R"({"simulation": {"until": {"half_width": 0.1, "max_rounds": 3}}})",
       "/simulation/until/max_rounds: "},
      {R"({"experiment": "acceptance", "simulation": {"until": {"half_width": 0.1, "metric": "speedup"}}})",
       "/simulation/until/metric: "},
      {R"({"experiment": "rules", "simulation": {"until": {"half_width": 0.1}}})", "/simulation/until: "},
      {R"({"experiment": "rules", "models": {"draft": {"vocab": 3}}})", "/models/draft: "},
      {R"({"experiment": "rules", "rules": {"equality_test": true}, "check": {"power": 0.5, "level": 0.5}})",
       "/check/power: "},
      {R"({"experiment": "optimal_gamma", "rule": {"kind": "tree"}})", "/rule/kind: "},
      {R"({"experiment": "optimal_gamma", "models": {"draft": {"kind": "cached", "base": {"kind": "uniform"}}}})",
       "/models: "},
      {R"({"experiment": "beam", "beam": {"width": 3, "draft_width": 2}})", "/beam/draft_width: "},
      {R"({"experiment": "beam", "rule": {"kind": "block"}})", "/rule: "},
      {R"({"experiment": "trace", "rule": {"kind": "tree"}})", "/rule/kind: "},
      {R"({"experiment": "walltime"})", "/models/target: "},
      {R"({"experiment": "schedules", "simulation": {"trials": 1}})", "/simulation/trials: "},
      {R"({"experiment": "schedules", "alpha": 0.5})", "/alpha: "},
      {R"({"experiment": "schedules", "schedules": {"compare": [{"kind": "plain"}]}, "models": {"draft": {"vocab": 3}}})",
       "/models/draft: "},
      {R"({"experiment": "compare", "compare": {"drafters": [{"kind": "lookup"}], "tasks": [{"name": "a",
            "corpus": {"file": "no such file", "hold_out": 2}, "target": {"kind": "mixture", "other": {"kind": "uniform"}}}]}})",
       "/compare/tasks/0/target"},
      // The second cell.
      {R"({"sweep": {"/models/draft": [{"kind": "uniform"}, {"kind": "mixture", "other": {"kind": "uniform"}}]}})",
       "/models/draft: "},
      {R"({"sweep": {"/simulation/prompt": [[1], [100]]}})", "/simulation/prompt/0: "}};
  return all;
}

const auto quiet = [](std::uint64_t) { return Control{}; };

}  // namespace

TEST_CASE("a config that cannot be run is refused before a model is built, whatever its experiment") {
  REQUIRE(added_endless);
  // Without a fault the model is built: this test can fail.
  CHECK_THROWS_AS(run_config(with("{}"), quiet), std::logic_error);
  CHECK_THROWS_AS(measure_workload(with("{}")), std::logic_error);
  for (const auto& [patch, path] : refusals()) {
    CAPTURE(patch);
    const auto run = config_error_of([&, of = patch] { run_config(with(of), quiet); });
    CHECK_MESSAGE(run.starts_with(path), run);
    CHECK(config_error_of([&, of = patch] { measure_workload(with(of)); }) == run);
  }
}

TEST_CASE("verbs that build the models of a config refuse as early") {
  CHECK(config_error_of([] {
          analyse_exactly(with(R"({"rule": {"kind": "block"}})"), false);
        }).starts_with("/rule/kind: "));
  CHECK(config_error_of([] {
          proof_task(with(R"({"models": {"draft": {"kind": "cached", "base": {"kind": "uniform"}}}})"));
        }).starts_with("/models/draft: "));
  ModelFactory factory;
  CHECK(config_error_of([&] {
          model_of_config(with(refusals().front().patch), true, factory);
        }).starts_with(refusals().front().path));
}
