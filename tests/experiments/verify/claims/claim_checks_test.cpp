// Tests that every check gives each verdict where it must, and finds a changed number.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "experiments/verify/claims/audit.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

ClaimCheckConfig check_of(const Json& json) { return read(kind_of(claim_check_family()), json, "/check"); }

JudgedClaim judged(const Json& check, const Json& printed) {
  Claim claim;
  claim.printed = read(printed_number(), printed, "/printed");
  claim.check = check_of(check);
  return judge(claim, "test");
}

/// Returns the verdict of the formula, whether or not it needs an assumption.
ClaimVerdict by_formula(const JudgedClaim& claim) { return claim.under_assumption.value_or(claim.verdict); }

/// A check with inputs, a number that follows, one that follows within the rounding of the inputs (if there
/// is any), and one that does not follow.
struct Example {
  Json check;
  Json follows;
  Json within;  ///< null if the inputs are exact
  Json not_so;
};

const std::vector<Example>& examples() {
  static const Json toy_target{"1/3", "2/3"}, toy_draft{"2/3", "1/3"};
  static const std::vector<Example> all{
      // 2.36 / 2.10 = 1.1238; from 2.355 / 2.105 = 1.1188 to 2.365 / 2.095 = 1.1289.
      {{{"kind", "ratio"}, {"of", "2.36"}, {"to", "2.10"}}, "1.124", "1.128", "1.130"},
      {{{"kind", "percent_change"}, {"from", "19.66"}, {"to", "24.03"}}, "22.23", "22.19", "22.10"},
      {{{"kind", "percent_saved"}, {"from", "59.1"}, {"to", "48.2"}}, "18.4", "18.5", "18.7"},
      {{{"kind", "percent_of"}, {"of", "7.0"}, {"to", "9.0"}}, "77.8", "78.5", "80"},
      {{{"kind", "difference"}, {"from", "10.0"}, {"less", {"2.5", "3.5"}}}, "4.0", "4.12", "4.3"},
      {{{"kind", "mean"}, {"values", {"86", "65", "51"}}}, "67.3", "67.7", "68.0"},
      {{{"kind", "mean_gain"}, {"from", {"5.1", "4.6"}}, {"to", {"6.1", "5.7"}}}, "21.6", "23.0", "24.5"},
      {{{"kind", "sum_over"}, {"of", {"2", "33"}}, {"to", "1.33"}}, "26.3", "27.1", "28"},
      {{{"kind", "length_by_positions"}, {"positions", {"0.76", "0.56", "0.43"}}}, "2.75", "2.76", "2.80"},
      {{{"kind", "length_by_conditional"}, {"positions", {"0.8", "0.5"}}}, "2.2", "2.31", "2.4"},
      {{{"kind", "length_by_counts"}, {"accepted", 167}, {"rounds", 87}}, "2.92", nullptr, "2.93"},
      {{{"kind", "length_by_rate"}, {"rate", "0.643"}, {"drafted", 3}}, "2.93", "2.9305", "2.94"},
      {{{"kind", "length_within_rate"}, {"rate", "0.543"}, {"drafted", 2}}, "2.08", "2.0865", "2.25"},
      {{{"kind", "accepted_by_rate"}, {"rate", "0.595"}, {"drafted", 3}}, "1.785", "1.786", "1.80"},
      {{{"kind", "rate_with_bonus"}, {"length", "5.57"}, {"drafted", 7}}, "0.696", "0.6957", "0.769"},
      {{{"kind", "geometric_length"}, {"rate", "0.877"}, {"drafted", 2}}, "2.646", "2.6475", "2.655"},
      // a + a^2 + a^3 = 2.02 at a = 0.8149.
      {{{"kind", "independent_length"}, {"length", "3.02"}, {"at", 3}, {"drafted", 7}},
       "4.35",
       "4.37",
       "3.94"},
      {{{"kind", "longer_draft"}, {"shorter", {"1.84", "2.51", "3.01"}}}, "3.36", "3.519", "2.98"},
      {{{"kind", "minimum_variance_rate"}, {"length", "3.78"}, {"position", 3}}, "0.78", "0.784", "0.80"},
      // 0.8 +- 6 sqrt(0.16 (1 / 400 + 1 / 400)) = 0.8 +- 0.1697.
      {{{"kind", "same_first_rate"}, {"rate", "0.80"}, {"rounds", 400}, {"other_rounds", 400}},
       "0.64",
       "0.628",
       "0.60"},
      {{{"kind", "speed_at_most"}, {"tokens", "2.28"}}, "2.27", "2.2849", "2.30"},
      {{{"kind", "speed_within_rate"}, {"rate", "0.34"}, {"drafted", 3}, {"plain", "26.7"}},
       "23.5",
       "54.4",
       "55"},
      {{{"kind", "time_at_least"}, {"tokens", "2.0"}, {"plain", "20.0"}}, "10.1", "9.8", "9.0"},
      {{{"kind", "gain_at_equal_cost"}, {"from", "5.99"}, {"to", "6.30"}}, "5.2", "5.3", "10.7"},
      {{{"kind", "goodput"}, {"survivals", {"0.8", "0.72"}}, {"steps", 0.45}}, "1.134", "1.15", "1.17"},
      {{{"kind", "cost_by_emitted"}, {"rate", "0.456"}, {"speedup", "1.546"}}, "1.189", "1.190", "1.192"},
      {{{"kind", "independent_experts"}, {"experts", 256}, {"per_token", 8}, {"tokens", 8}},
       "57.4",
       nullptr,
       "39.4"},
      {{{"kind", "overlap"}, {"target", {0.7, 0.3}}, {"draft", {0.5, 0.5}}}, "0.8", nullptr, "0.9"},
      {{{"kind", "expected_accepted"},
        {"rule", {{"kind", "block"}}},
        {"target", toy_target},
        {"draft", toy_draft},
        {"gamma", 2}},
       "11/9",
       nullptr,
       "10/9"},
      {{{"kind", "at_most_block"}, {"block", "6.13"}}, "6.10", "6.1349", "6.30"},
      {{{"kind", "anticipating_truncation"}, {"target", {0.7, 0.3}}, {"draft", {0.5, 0.5}}},
       "0.85",
       nullptr,
       "0.70"},
  };
  return all;
}

}  // namespace

TEST_CASE("claim checks: each says what follows, what rounding allows and what does not follow") {
  std::set<std::string> seen;
  for (const Example& example : examples()) {
    const auto name = example.check["kind"].get<std::string>();
    CAPTURE(name);
    seen.insert(name);
    CHECK(by_formula(judged(example.check, example.follows)) == ClaimVerdict::follows);
    if (!example.within.is_null()) {
      CHECK(by_formula(judged(example.check, example.within)) == ClaimVerdict::within_input_rounding);
    }
    const JudgedClaim wrong = judged(example.check, example.not_so);
    CHECK(by_formula(wrong) == ClaimVerdict::does_not_follow);
    CHECK(wrong.contradicted());
    CHECK(wrong.off != 0);
    // The verdict includes the assumption if the formula needs one.
    CHECK((wrong.verdict == ClaimVerdict::needs_assumption) == !wrong.assumption.empty());
  }
  CHECK(seen.size() == claim_check_family().size());
  for (const std::string& name : claim_check_family().names()) CHECK_MESSAGE(seen.contains(name), name);
}

TEST_CASE("claim checks: values by hand") {
  CHECK(*judged(examples()[0].check, "1.124").least == doctest::Approx(2.36 / 2.10));
  CHECK(*judged(examples()[0].check, "1.124").rounded_least == doctest::Approx(2.355 / 2.105));
  CHECK(*judged(examples()[0].check, "1.124").rounded_most == doctest::Approx(2.365 / 2.095));
  // The difference exceeds the rounding of both: 1.1295 - 2.365 / 2.095.
  CHECK(judged(examples()[0].check, "1.130").off == doctest::Approx(1.1295 - 2.365 / 2.095));
  const JudgedClaim bound = judged({{"kind", "speed_at_most"}, {"tokens", "3.0"}, {"plain", "10.0"}}, "31.0");
  CHECK(*bound.most == doctest::Approx(30));
  CHECK(*bound.rounded_most == doctest::Approx(3.05 * 10.05));
  CHECK_FALSE(
      judged({{"kind", "time_at_least"}, {"tokens", "2.0"}, {"plain", "20.0"}}, "11").most.has_value());
}

TEST_CASE("claim checks: inputs that have no value or contradict one another are refused") {
  const auto refused = [](const Json& check) {
    return config_error_of([&] {
      const ClaimCheckConfig config = check_of(check);
      config.entry().range(config);
    });
  };
  CHECK(refused({{"kind", "ratio"}, {"of", "2"}, {"to", 0}}).starts_with("/check: the formula divides by 0"));
  CHECK(refused({{"kind", "ratio"}, {"of", 0}, {"to", 0}}).find("no value") != std::string::npos);
  CHECK(refused({{"kind", "ratio"}, {"of", "2"}}).find("to") != std::string::npos);
  CHECK(refused({{"kind", "ratio"}, {"of", "2"}, {"to", "two"}}).starts_with("/check/to"));
  CHECK(refused({{"kind", "ratio"}, {"of", "2"}, {"to", "1"}, {"from", "1"}}).find("from") !=
        std::string::npos);
  CHECK(refused({{"kind", "ratios"}, {"of", "2"}}).find("did you mean \"ratio\"") != std::string::npos);
  CHECK(refused({{"kind", "mean"}, {"values", Json::array()}}).find("empty") != std::string::npos);
  CHECK(refused({{"kind", "mean_gain"}, {"from", {"1"}}, {"to", {"1", "2"}}}).find("length") !=
        std::string::npos);
  CHECK(refused({{"kind", "geometric_length"}, {"rate", "83"}, {"drafted", 2}}).find("outside 0 to 1") !=
        std::string::npos);
  CHECK(refused({{"kind", "overlap"}, {"target", {0.7, 0.2}}, {"draft", {0.5, 0.5}}}).find("sum to 1") !=
        std::string::npos);
  CHECK(refused({{"kind", "overlap"}, {"target", {1}}, {"draft", {0.5, 0.5}}}).find("one vocabulary") !=
        std::string::npos);
  CHECK(refused({{"kind", "independent_experts"}, {"experts", 4}, {"per_token", 8}, {"tokens", 2}})
            .find("per_token") != std::string::npos);
}

TEST_CASE("printed numbers: what rounds to them") {
  const auto number = [](const Json& json) { return read(printed_number(), json, "/printed"); };
  CHECK(number("2.10").value == 2.1);
  CHECK(number("2.10").half_unit == doctest::Approx(0.005));
  CHECK(number("1400").half_unit == doctest::Approx(0.5));
  CHECK(number("-21.5").value == -21.5);
  CHECK(number(87).half_unit == 0);
  CHECK(number("10/9").value == doctest::Approx(10.0 / 9));
  CHECK(number("10/9").half_unit == 0);
  for (const char* text : {"", "2,10", "1e3", "+3", "3%", "1/0", "--1", "1.2.3"}) {
    CAPTURE(text);
    CHECK(config_error_of([&] { number(text); }).starts_with("/printed"));
  }
}

TEST_CASE("allowed ranges: no number that rounds to the inputs gives another value") {
  // Checks the corners in a second way: 500 random inputs for each example, seed 1.
  std::mt19937_64 random(1);
  for (const Example& example : examples()) {
    const ClaimCheckConfig config = check_of(example.check);
    const ClaimCheck& check = config.entry();
    CAPTURE(check.name);
    const AllowedRange range = check.range(config);
    const auto inputs_at = [&](const std::function<double(const PrintedNumber&)>& value) {
      Json json = example.check;
      const auto replace = [&](Json& one) {
        if (one.is_string() && one.get<std::string>().find('/') == std::string::npos) {
          one = value(read(printed_number(), one, ""));
        }
      };
      for (auto& [key, one] : json.items()) {
        if (key == "kind") continue;
        if (one.is_array()) {
          for (Json& element : one) replace(element);
        } else {
          replace(one);
        }
      }
      const ClaimCheckConfig exact = check_of(json);
      return exact.entry().range(exact).as_printed;
    };
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 500; ++i) {
      // Every second draw is a corner, so that the ends are both reached and never exceeded.
      const bool corner = i % 2 == 0;
      const Allowed found = inputs_at([&](const PrintedNumber& input) {
        double side = std::uniform_real_distribution<double>(-1, 1)(random);
        if (corner) side = side < 0 ? -1 : 1;
        return input.value + side * input.half_unit;
      });
      least = std::min(least, found.least);
      most = std::max(most, found.most);
    }
    constexpr double rounding = 1e-9;
    CHECK(least >= range.rounded.least - rounding);
    CHECK((most <= range.rounded.most + rounding || std::isinf(range.rounded.most)));
    CHECK(least == doctest::Approx(range.rounded.least).epsilon(1e-9));
    if (!std::isinf(range.rounded.most)) CHECK(most == doctest::Approx(range.rounded.most).epsilon(1e-9));
  }
}
