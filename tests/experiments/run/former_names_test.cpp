// Configs written with former names of keys, kinds, metrics and paths keep working.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/catalog/families.hpp"
#include "experiments/format/json_io.hpp"
#include "experiments/run/config.hpp"
#include "experiments/run/experiment.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

struct Renamed {
  Json config;
  std::vector<RenamedUse> uses;
  bool lists(const std::string& path, const std::string& old_name, const std::string& new_name) const {
    return std::any_of(uses.begin(), uses.end(), [&](const RenamedUse& use) {
      return use.path == path && use.old_name == old_name && use.new_name == new_name;
    });
  }
};

Renamed renamed(const std::string& text) {
  Renamed result;
  result.config = with_present_names(parse_json(text), result.uses);
  return result;
}

}  // namespace

TEST_CASE("keys, kinds, experiments and choices") {
  const Renamed result = renamed(R"({
    "title": "t", "experiment": "verifiers", "engine": "quick",
    "models": {"target": {"kind": "zipf", "vocab": 8}, "draft": {"kind": "random"}},
    "corpus": {"file": "x", "units": "pieces"},
    "verifier": {"kind": "fault-closed-coin"},
    "plan": {"trials": 8},
    "verifiers": {"witness": true},
    "schedules": {"compare": [{"kind": "two_functions"}, {"kind": "oracle", "charged": true}]}})");
  CHECK(result.config == parse_json(R"({
    "title": "t", "experiment": "rules", "engine": "fast",
    "models": {"target": {"kind": "zipf", "vocab": 8}, "draft": {"kind": "uniform"}},
    "corpus": {"file": "x", "tokenization": "subword"},
    "rule": {"kind": "fault-closed-comparison"},
    "simulation": {"trials": 8},
    "rules": {"equality_test": true},
    "schedules": {"compare": [{"kind": "speculative_function_execution"},
                              {"kind": "upper-bound", "drafting_paid": true}]}})"));
  CHECK(result.lists("/verifier", "verifier", "rule"));
  CHECK(result.lists("/plan", "plan", "simulation"));
  CHECK(result.lists("/experiment", "verifiers", "rules"));
  CHECK(result.lists("/engine", "quick", "fast"));
  CHECK(result.lists("/models/draft/kind", "random", "uniform"));
  CHECK(read_config(result.config).rule.name() == "fault-closed-comparison");
}

TEST_CASE("metrics and paths of cases, sweeps and figures") {
  const Renamed result = renamed(R"({
    "title": "t", "metrics": ["speed", "tokens_per_round"],
    "cases": [{"set": {"/plan/trials": 8, "/verifier": {"kind": "token"}}, "printed": {"speed": "2.4"}}],
    "sweep": {"/plan/length": [10, 20], "/verifier/kind": ["fault-closed-coin", "token"]},
    "figures": [{"title": "f", "x": "/plan/length", "y": "best_speed", "series": "/verifier/kind"}]})");
  CHECK(result.config == parse_json(R"({
    "title": "t", "metrics": ["speedup", "tokens_per_target_step"],
    "cases": [{"set": {"/simulation/trials": 8, "/rule": {"kind": "token"}}, "printed": {"speedup": "2.4"}}],
    "sweep": {"/simulation/length": [10, 20], "/rule/kind": ["fault-closed-comparison", "token"]},
    "figures": [{"title": "f", "x": "/simulation/length", "y": "best_speedup", "series": "/rule/kind"}]})"));
  CHECK_FALSE(result.uses.empty());
  read_config(result.config);
  CHECK(with_present_names("/plan/trials") == "/simulation/trials");
  CHECK(with_present_names("/verifier/kind") == "/rule/kind");
}

TEST_CASE("present names are left alone") {
  const std::string text = R"({"title": "t", "rule": {"kind": "token"}, "simulation": {"trials": 8},
    "metrics": ["speedup"], "sweep": {"/simulation/length": [1]}})";
  const Renamed result = renamed(text);
  CHECK(result.uses.empty());
  CHECK(result.config == parse_json(text));
}

TEST_CASE("a former name beside the present one is refused") {
  CHECK(config_error_of([] {
          renamed(R"({"title": "t", "plan": {}, "simulation": {}})");
        }).starts_with("/plan: "));
}

TEST_CASE("every former name of every family leads to one kind, and is the name of none") {
  for (const FamilyBase* family : families()) {
    for (const KindInfo* kind : family->kinds()) {
      for (const std::string& alias : kind->aliases) {
        CAPTURE(alias);
        CHECK(family->find(alias) == kind);
        const auto names = family->names();
        CHECK(std::find(names.begin(), names.end(), alias) == names.end());
      }
    }
  }
  for (const Experiment* experiment : experiments()) {
    for (const std::string& alias : experiment->aliases) CHECK(find_experiment(alias) == experiment);
  }
}
