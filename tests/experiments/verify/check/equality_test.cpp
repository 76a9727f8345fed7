#include "experiments/verify/check/equality_test.hpp"
#include "experiments/run/config.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/format/json_io.hpp"
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
