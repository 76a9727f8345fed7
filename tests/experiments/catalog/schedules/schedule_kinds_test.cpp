#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/schedules/schedule_kind.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

constexpr ScheduleRequest request{.gamma = 3, .c = 0.1, .length = 100};

ScheduleConfig chosen(const std::string& text) {
  return read(kind_of(schedule_family()), parse_json(text), "/schedule");
}

MadeSchedule made(const std::string& text, const ScheduleRequest& from = request) {
  const ScheduleConfig config = chosen(text);
  return config.entry().make(config, from);
}

/// Returns the path in the error that making this schedule throws.
std::string error_path(const std::string& text, const ScheduleRequest& from = request) {
  const std::string sentence = config_error_of([&] { made(text, from); });
  return sentence.substr(0, sentence.find(": "));
}

}  // namespace

TEST_CASE("every kind but the hierarchical one is complete without parameters, and runs") {
  const AcceptanceBits bits(2000, 1);
  for (const KindInfo* kind : schedule_family().kinds()) {
    CAPTURE(kind->name);
    if (kind->name == "hierarchical") continue;
    const MadeSchedule schedule = made(R"({"kind": ")" + kind->name + "\"}", {3, 0.1, 1000});
    CHECK_FALSE(schedule.name.empty());
    CHECK(schedule.formula(0.5).has_value());
    // Every token is accepted, and a draft run takes a tenth of a target run: no schedule loses time.
    const std::uint64_t length = std::max<std::uint64_t>(100, schedule.min_tokens);
    const Elapsed elapsed = schedule.schedule.run(Acceptances{bits, length});
    CHECK(elapsed.tokens >= length);
    CHECK(elapsed.time > 0);
    CHECK(elapsed.plain_time >= elapsed.time);
  }
}

TEST_CASE("the upper bound says whether drafting is paid") {
  CHECK(made(R"({"kind": "upper-bound", "drafting_paid": false})").name == "upper bound, drafting free");
  CHECK(made(R"({"kind": "upper-bound"})").name == "upper bound, drafting paid");
}

TEST_CASE("the config's gamma and cost stand where a schedule has none of its own") {
  CHECK(made(R"({"kind": "speculative"})").name == "speculative, γ = 3");
  CHECK(made(R"({"kind": "speculative", "gamma": 2})").name == "speculative, γ = 2");
  const double taken = *made(R"({"kind": "heads"})").formula(0.5);
  CHECK(taken == doctest::Approx(1.875 / 1.1));
  CHECK(*made(R"({"kind": "heads", "c": 0.5})").formula(0.5) == doctest::Approx(1.875 / 1.5));
}

TEST_CASE("a commonly printed formula is there where it means another program") {
  CHECK_FALSE(made(R"({"kind": "speculative"})").printed.has_value());
  CHECK_FALSE(made(R"({"kind": "pearl", "next_row": false})").printed.has_value());
  const MadeSchedule pearl = made(R"({"kind": "pearl"})");
  REQUIRE(pearl.printed);
  CHECK(*pearl.printed->value(0.8) < *pearl.formula(0.8));
  CHECK_FALSE(pearl.formula(1).has_value());
}

TEST_CASE("what does not fit is refused by its path") {
  CHECK(error_path(R"({"kind": "dsi", "c": 1.5})") == "/schedule/c");
  CHECK(error_path(R"({"kind": "dsi"})", {3, 0, 100}) == "/cost/c");
  CHECK(error_path(R"({"kind": "dsi"})", {3, 1e-9, 100}) == "/cost/c");
  CHECK(error_path(R"({"kind": "dsi", "c": 1e-300})") == "/schedule/c");
  CHECK(error_path(R"({"kind": "pearl", "gamma": 0})") == "/schedule/gamma");
  CHECK(error_path(R"({"kind": "pearl"})", {0, 0.1, 100}) == "/gamma");
  CHECK(error_path(R"({"kind": "batched", "goal": 100})") == "/schedule/goal");
  CHECK(error_path(R"({"kind": "hierarchical", "levels": [{"gamma": 2, "c": 0.1, "alpha": 0.5}]})") ==
        "/schedule/levels/0/alpha");
  CHECK(
      error_path(R"({"kind": "hierarchical", "levels": [{"gamma": 2, "c": 0.1}, {"gamma": 2, "c": 0.1}]})") ==
      "/schedule/levels/1/alpha");
  CHECK(error_path(R"({"kind": "hierarchical"})") == "/schedule/levels");
  CHECK(error_path(R"({"kind": "speculatif"})") == "/schedule/kind");
}
