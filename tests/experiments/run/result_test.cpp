// Tests result.json of every experiment: read and written again, it has the same bytes.
#include "experiments/run/result.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/random_tokens.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns a small run of each experiment, as a patch of one config.
std::vector<std::string> runs() {
  return {
      R"({"experiment": "serving", "models": null, "alpha": 0.7, "serving": {"clients": 3, "output": 8, "requests": 20,
          "settle": 3, "runs": 2, "cost": {"kind": "steps", "step": 1}, "measured": {"TPOT p95": 2}}})",
      R"({"experiment": "decode", "cases": [{"label": "a", "printed": {"speedup": "1.5"}, "measured": {"x": "2"}},
                                            {"label": "b", "set": {"/gamma": 3}, "note": "n"}]})",
      R"({"experiment": "acceptance", "sweep": {"/models/draft/epsilon": [0.25, 0.5]}})",
      R"({"experiment": "optimal_gamma", "cost": {"c": 0.1}, "search": {"max_gamma": 3},
          "models": {"draft": {"kind": "mixture", "epsilon": null, "alpha": 0.8, "other": {"kind": "uniform"}}}})",
      R"({"experiment": "predict", "alpha": 0.7})",
      R"({"experiment": "iid", "alpha": 0.7})",
      R"({"experiment": "trace"})",
      R"({"experiment": "rules", "cases": [{"set": {"/rule": {"kind": "block"}}}]})",
      R"({"experiment": "beam", "beam": {"width": 2, "length": 6}})",
      R"({"experiment": "schedules", "schedules": {"compare": [{"kind": "plain"}, {"kind": "speculative"}]}})",
      R"({"experiment": "compare",
          "compare": {"tasks": [{"name": "text", "prompt_tokens": 4, "sequences": 4,
            "corpus": {"file": "TEXT", "hold_out": 3, "document_tokens": 40}}],
          "drafters": [{"kind": "lookup"}]}})",
      R"({"experiment": "printed", "printed": {"quantity": "quotient", "from": ["2.0"]},
          "cases": [{"set": {"/printed/to": ["3"]}, "printed": {"quotient": "1.5"}},
                    {"set": {"/printed/to": ["3.19"]}, "printed": {"quotient": "1.5"}}]})",
      R"({"experiment": "scaling", "sweep": {"/scaling/format": ["bf16", "f16"], "/scaling/scale": [1e5]}})"};
}

Json patched_config(std::string patch, const TempFile& text) {
  const auto at = patch.find("TEXT");
  if (at != std::string::npos) patch.replace(at, 4, text.path().string());
  Json config =
      parse_json(R"({"title": "t", "gamma": 2, "simulation": {"trials": 8, "length": 20, "batches": 4},
    "models": {"target": {"kind": "zipf", "vocab": 6},
               "draft": {"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}}}})");
  config.merge_patch(parse_json(patch));
  return read_part(config);
}

std::string some_text() {
  std::string text;
  for (const Token token : random_tokens(3, 2000, 20)) text += fmt::format("w{} ", token);
  return text;
}

}  // namespace

TEST_CASE("read back and written again, a result has the same bytes") {
  const TempFile text(some_text());
  std::set<std::string> seen;
  for (const std::string& patch : runs()) {
    const Json config = patched_config(patch, text);
    CAPTURE(patch);
    const Result result = run_of(config).result;
    const std::string bytes = bytes_of(result);
    CHECK(bytes_of(read_result(parse_json(bytes))) == bytes);
    // The config in a result can be run again.
    CHECK(config_json(read_config(config_json(*result.config))) == config_json(*result.config));
    CHECK_FALSE(result.partial);
    seen.insert(result.shown().experiment->name);
  }
  for (const Experiment* experiment : experiments()) {
    if (experiment->name == "walltime") continue;  // needs libllama: clocked_models_test
    CAPTURE(experiment->name);
    CHECK(seen.contains(experiment->name));
  }
}

TEST_CASE("what is not a result is refused") {
  CHECK_THROWS_AS(read_result(parse_json("[]")), ConfigError);
  // Results of another version are refused: with another number, without one, or with unknown keys.
  const Json known = parse_json(
      bytes_of(run_of(parse_json(R"({"title": "t", "experiment": "predict", "alpha": 0.5})")).result));
  Json other = known;
  other["format"] = result_format + 1;
  CHECK_THROWS_WITH_AS(read_result(other), doctest::Contains("another version of speclab wrote it"),
                       ConfigError);
  other.erase("format");
  CHECK_THROWS_WITH_AS(read_result(other), doctest::Contains("another version of speclab wrote this"),
                       ConfigError);
  other = known;
  other["later"] = 1;
  CHECK_THROWS_WITH_AS(read_result(other), doctest::Contains("another version of speclab wrote this"),
                       ConfigError);
  CHECK_THROWS_AS(read_result(parse_json(R"({"title": "t"})")), ConfigError);
}

TEST_CASE("the config of a result's file is read from its head, or from the whole file if others wrote it") {
  const RunResult run = run_of(parse_json(R"({"title": "t", "experiment": "predict", "alpha": 0.5})"));
  const Json config = config_json(*run.result.config);
  const std::string bytes = bytes_of(run.result);
  const TempFile ours(bytes);
  CHECK(config_json(*result_head(ours.path()).config) == config);
  // The cells, which are not read, may be of another version.
  const std::size_t cells = bytes.find("\"cells\": [");
  REQUIRE(cells != std::string::npos);
  const TempFile only_head(bytes.substr(0, cells) + "\"cells\": [ later");
  CHECK(config_json(*result_head(only_head.path()).config) == config);
  for (const int indent : {-1, 4}) {
    CAPTURE(indent);
    const TempFile formatted(parse_json(bytes).dump(indent));
    CHECK(config_json(*result_head(formatted.path()).config) == config);
  }
  CHECK_THROWS_WITH_AS(result_head(TempFile("").path()), doctest::Contains("not JSON"), ConfigError);
  CHECK_THROWS_WITH_AS(result_head(ours.path().parent_path()), doctest::Contains("cannot be read"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(result_head(ours.path().parent_path() / "nothing-here.json"),
                       doctest::Contains("cannot be read"), ConfigError);
}
