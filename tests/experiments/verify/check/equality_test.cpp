#include "experiments/verify/check/equality_test.hpp"
#include "experiments/config/config.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

Setup setup_of(const std::string& target, const std::string& rule = R"({"kind": "token"})") {
  ModelFactory factory;
  return build_setup(read_config(parse_json(R"({"title": "t", "seed": 5, "models": {"target": )" + target +
                                            R"(, "draft": {"kind": "uniform"}}, "rule": )" + rule + "}")),
                     factory);
}

constexpr const char* skewed = R"({"kind": "table", "rows": [[5, 3, 2]]})";
const CheckSection few{.tokens = 2, .samples = 20000, .level = 1e-9};

}  // namespace

TEST_CASE("few sequences are tested against the exact distribution, many against a second sample") {
  const Setup exact = setup_of(skewed);
  const EqualityResult found = test_equality(exact, 2, few, Control{}).value();
  CHECK(found.reference == EqualityReference::exact_distribution);
  CHECK_FALSE(found.different);
  CHECK(found.positions.size() == 2);
  CHECK(found.cells == 9);
  CHECK(found.samples_each == 20000);
  CHECK(equality_workload(exact, few) == 20000);
  CHECK(terminal(equality_text(found)).find("equal: no difference found") != std::string::npos);
  const Setup wide = setup_of(R"({"kind": "zipf", "vocab": 400})");
  CHECK(equality_workload(wide, few) == 40000);
  CHECK(test_equality(wide, 2, few, Control{})->reference == EqualityReference::second_sample);
}

TEST_CASE("a fault is found, and the result survives a file") {
  const Setup faulty = setup_of(skewed, R"({"kind": "fault-resample-target"})");
  const EqualityResult found = test_equality(faulty, 2, few, Control{}).value();
  CHECK(found.different);
  Json json;
  write(described<EqualityResult>(), found, json);
  CHECK(json.at("verdict") == "different");
  CHECK(json.at("against") == "exact distribution");
  Json again;
  write(described<EqualityResult>(), read(described<EqualityResult>(), json, "/"), again);
  CHECK(again == json);
}

TEST_CASE("main classes are never merged, and samples of a rare one alone are different") {
  const CheckSection one{.tokens = 1};
  const auto tested = [&](const std::string& target, std::size_t sequences, Token token) {
    return test_samples(setup_of(target), one, std::vector<Token>(sequences, token), Control{}).value();
  };
  const std::string halves = R"({"kind": "table", "rows": [[0.5, 0.49999, 0.00001]]})";
  const EqualityResult first_alone = tested(halves, 200000, 0);
  CHECK(first_alone.different);
  CHECK(first_alone.cells == 2);
  CHECK(first_alone.detectable_total_variation < 0.01);
  CHECK(tested(R"({"kind": "table", "rows": [[0.999999, 0.000001]]})", 10000, 1).different);
  CHECK_FALSE(tested(R"({"kind": "table", "rows": [[0.999999, 0.000001]]})", 10000, 0).different);
}

TEST_CASE("where all sequences are rare, no total variation is promised") {
  // 1,000 sequences are all too rare for their own class.
  const CheckSection least{.tokens = 3, .samples = 100, .level = 1e-3, .power = 0.9};
  const EqualityResult rare =
      test_equality(setup_of(R"({"kind": "uniform", "vocab": 10})"), 2, least, Control{}).value();
  CHECK(rare.rare_classes == 1000);
  CHECK(rare.degrees > 0);
  CHECK(rare.detectable_between_classes < 1);
  CHECK(rare.detectable_total_variation == 1);
  CHECK(rare.samples_for_one_percent.value() > 100);
}

TEST_CASE("without degrees of freedom: what is stated to be found is found, and less is not") {
  // There is one sequence, in an exact distribution and in two samples: 160,000 are too many to enumerate.
  const Setup point = setup_of(R"({"kind": "point", "vocab": 400})");
  for (const std::int32_t tokens : {1, 2}) {
    CAPTURE(tokens);
    const CheckSection settings{.tokens = tokens, .level = 1e-6, .power = 0.99};
    const auto with_others = [&](double share) {
      constexpr std::size_t sequences = 20000;
      std::vector<Token> samples(sequences * static_cast<std::size_t>(tokens), 0);
      const auto others = static_cast<std::size_t>(std::ceil(share * sequences));
      for (std::size_t i = 0; i < others; ++i) samples[i * static_cast<std::size_t>(tokens)] = 1;
      return test_samples(point, settings, samples, Control{}).value();
    };
    const EqualityResult alone = with_others(0);
    const bool exact = alone.reference == EqualityReference::exact_distribution;
    CHECK(exact == (tokens == 1));
    CHECK(alone.degrees == 0);
    CHECK_FALSE(alone.different);
    CHECK(with_others(alone.detectable_total_variation).different);
    // In two samples, a fifth of as many other sequences do not fill a cell.
    if (!exact) CHECK_FALSE(with_others(alone.detectable_total_variation / 5).different);
  }
}

TEST_CASE("progress counts sequences, a stop gives nothing, and the power must be above the level") {
  const Setup setup = setup_of(skewed);
  std::atomic<std::uint64_t> done{0};
  Control control;
  control.progress = [&](std::uint64_t steps) { done += steps; };
  CHECK(test_equality(setup, 2, few, control).has_value());
  CHECK(done == equality_workload(setup, few));
  control.stop = [] { return true; };
  CHECK_FALSE(test_equality(setup, 2, few, control).has_value());
  const CheckSection weak{.tokens = 2, .samples = 100, .level = 0.1, .power = 0.05};
  CHECK(config_error_of([&] { test_equality(setup, 2, weak, Control{}); }) ==
        "/check/power: 0.05 is not above the level 0.1");
}
