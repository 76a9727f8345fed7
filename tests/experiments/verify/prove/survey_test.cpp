#include "experiments/verify/prove/survey.hpp"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/rule_of.hpp"

using namespace speclab;

namespace {

Json json_of(const Survey& survey) {
  Json json;
  write(described<Survey>(), survey, json);
  return json;
}

}  // namespace

TEST_CASE("the branch bound holds") {
  for (const SurveyTask& survey : survey_tasks()) {
    for (std::uint32_t number = 0; number < 12; ++number) {
      const ProofTask task = survey_instance(survey, 3, number);
      CAPTURE(survey.rule->label);
      CAPTURE(number);
      CHECK(static_cast<double>(prove(task, Arithmetic::floating_point).branches) <= branch_bound(task));
    }
  }
}

TEST_CASE("a survey: every rule as expected, and the same twice") {
  const Survey survey = prove_all(24, 1, true, Control{});
  CHECK(survey.as_expected);
  CHECK(survey.rules.size() == survey_tasks().size());
  CHECK(json_of(survey) == json_of(prove_all(24, 1, true, Control{})));
  for (const SurveyRow& row : survey.rules) {
    CAPTURE(row.rule);
    if (row.expected == ExpectedLossless::always) {
      CHECK(std::get<std::string>(row.worst_tv) == "0");
      CHECK(row.mean_acceptance <= row.mean_optimal_transport_bound + 1e-12);
      if (row.optimum) {
        CHECK(row.optimum->proved == row.instances);
        CHECK((row.optimum->least == 1) == (row.optimum->attained == row.instances));
        CHECK(row.optimum->most <= 1);
        CHECK(row.optimum->above == 0);
      }
      if (row.rule == "block") CHECK(row.optimum.value().attained == row.instances);
      if (row.rule == "match") CHECK(row.optimum.value().least < 1);
    } else if (row.expected == ExpectedLossless::never) {
      CHECK(row.counterexample.has_value());
      // Emitting more than the optimum proves in another way that a rule is lossy.
      if (row.rule == "hsd") CHECK(row.optimum.value().above > 0);
    }
  }
}

TEST_CASE("a fault that claims to be lossless is refuted") {
  const RuleConfig fault = rule_named("fault-resample-target");
  const SurveyedRule claim{.label = "liar", .parameters = [&](std::int32_t) { return fault.parameters; }};
  const SurveyTask liar{&fault.entry(), &claim};
  bool refuted = false;
  for (std::uint32_t number = 0; number < 8; ++number) {
    refuted = refuted || !prove(survey_instance(liar, 1, number), Arithmetic::rational).lossless;
  }
  CHECK(refuted);
}

// Leviathan et al. 2023, A.5, states the bound for the residuals that subtract the draft.
TEST_CASE("with lenience l, no first token's probability exceeds p/l, unless the target replaces") {
  int exceeded = 0;
  for (const std::string residual : {"target_minus_draft", "literal", "target"}) {
    const RuleConfig rule =
        rule_of(R"({"kind": "lenient", "lenience": 0.5, "residual": ")" + residual + "\"}");
    const SurveyedRule half{.label = residual, .parameters = [&](std::int32_t) { return rule.parameters; }};
    for (std::uint32_t number = 0; number < 40; ++number) {
      const auto found =
          examine_by_context<Rational>(survey_instance({&rule.entry(), &half}, 2, number)).round;
      std::map<Token, Rational> first;
      for (const auto& [tokens, probability] : found.distribution) first[tokens.front()] += probability;
      for (const auto& [tokens, probability] : found.target_distribution)
        first[tokens.front()] -= 2 * probability;
      for (const auto& [token, excess] : first) {
        if (residual != "target") CHECK(excess <= 0);
        exceeded += excess > 0 ? 1 : 0;
      }
    }
  }
  CHECK(exceeded > 0);
}
