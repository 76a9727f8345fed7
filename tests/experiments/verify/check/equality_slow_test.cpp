// Tests what `check` accepts and rejects with the same number of samples. Null: both samples have one
// distribution. Level 1e-9 for each check.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

EqualityResult checked(const std::string& rule, const std::string& more = "{}") {
  Json json = parse_json(R"({"title": "test", "gamma": 3, "models": {
      "target": {"kind": "markov", "vocab": 8, "concentration": 0.5, "seed": 3},
      "draft": {"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}}},
    "check": {"tokens": 3, "samples": 100000, "level": 1e-9, "power": 0.99}, "rule": )" +
                         rule + "}");
  json["seed"] = test_seed(7);
  json.update(parse_json(more));
  const Config config = read_config(json);
  ModelFactory factory;
  return test_equality(build_setup(config, factory), config.gamma, config.section<CheckSection>(), Control{})
      .value();
}

bool different(const std::string& rule, const std::string& more = "{}") {
  return checked(rule, more).different;
}

constexpr const char* token = R"({"kind": "token"})";

}  // namespace

TEST_CASE(
    "512 sequences of three tokens: lossless rules pass, with sampling options too, lossy ones do not") {
  CHECK_FALSE(different(token, R"({"sampling": {"temperature": 0.7, "top_p": 0.9}})"));
  CHECK_FALSE(different(R"({"kind": "lenient", "lenience": 1})"));
  for (const char* rule : {R"({"kind": "lenient", "lenience": 0.5})",
                           R"({"kind": "lenient", "lenience": 0.5, "residual": "literal"})",
                           R"({"kind": "lenient", "lenience": 0.5, "residual": "target"})"}) {
    CAPTURE(std::string(rule));
    CHECK(different(rule));
  }
}

TEST_CASE("the planned samples are those that a test of so many confirms, whatever was asked first") {
  const EqualityResult result = checked(token);
  CHECK_FALSE(result.different);
  CHECK(result.degrees > 100);
  CHECK(result.detectable_between_classes < 0.03);
  const std::uint64_t planned = result.samples_for_one_percent.value();
  const auto with = [](std::uint64_t samples) {
    return R"({"check": {"tokens": 3, "level": 1e-9, "power": 0.99, "samples": )" + std::to_string(samples) +
           "}}";
  };
  const EqualityResult confirmed = checked(token, with(planned));
  CHECK(confirmed.detectable_total_variation <= 0.01);
  CHECK(confirmed.samples_for_one_percent == planned);
  // The next smaller round number is too small.
  CHECK(checked(token, with(planned - 10'000)).detectable_total_variation > 0.01);
  CHECK(checked(token, with(2000)).samples_for_one_percent == planned);
}

TEST_CASE("the planned samples of a second sample suffice, whose cells are not known before") {
  ModelFactory factory;
  Setup setup = build_setup(read_config(parse_json(R"({"title": "test", "seed": 7, "gamma": 2, "models": {
      "target": {"kind": "markov", "vocab": 8, "concentration": 0.5, "seed": 3}, "draft": {"kind": "uniform"}}})")),
                            factory);
  setup.simulation.prompts = {{0}, {1}};  // no exact distribution
  CheckSection settings{.tokens = 2, .samples = 500, .level = 1e-3, .power = 0.9};
  const EqualityResult few = test_equality(setup, 2, settings, Control{}).value();
  CHECK(few.reference == EqualityReference::second_sample);
  const std::uint64_t planned = few.samples_for_one_percent.value();
  settings.samples = static_cast<std::uint32_t>(planned);
  const EqualityResult confirmed = test_equality(setup, 2, settings, Control{}).value();
  CHECK(confirmed.detectable_total_variation <= 0.01);
  CHECK(confirmed.samples_for_one_percent.value() <= planned);
}

TEST_CASE("a second sample finds faults where the distribution is too large, with less power") {
  const std::string many = R"({"check": {"tokens": 6, "samples": 20000, "level": 1e-9, "power": 0.99}})";
  const EqualityResult result = checked(token, many);
  CHECK(result.reference == EqualityReference::second_sample);
  CHECK_FALSE(result.different);
  CHECK(result.positions.size() == 6);
  CHECK(result.positions[0].covered == 1);
  CHECK(different(R"({"kind": "fault-resample-target"})", many));
}

TEST_CASE("at temperature 0: one sequence, and a rule that accepts argmax tokens alone leaves it") {
  const std::string argmax = R"({"sampling": {"temperature": 0}, "models": {
    "target": {"kind": "markov", "vocab": 8, "concentration": 0.5, "seed": 3},
    "draft": {"kind": "markov", "vocab": 8, "concentration": 0.5, "seed": 4}}})";
  CHECK_FALSE(different(token, argmax));
  CHECK_FALSE(different(R"({"kind": "lenient-greedy", "lenience": 1})", argmax));
  CHECK(different(R"({"kind": "lenient-greedy", "lenience": 0.05})", argmax));
  CHECK(different(R"({"kind": "fault-accept-all"})", argmax));
}
