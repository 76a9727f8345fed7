#include "experiments/proof.hpp"

#include <doctest/doctest.h>

#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/proof_survey.hpp"

using namespace speclab;

namespace {

ProofTask golden(const std::string& verifier, int gamma = 1) {
  ProofTask task;
  task.target = parse_rows(".5,.3,.2", "--target");
  task.draft = parse_rows(".1,.3,.6", "--draft");
  task.verifier = resolve_kind(Json::parse(verifier), verifier_family(), "--verifier");
  task.gamma = gamma;
  return task;
}

ProofTask from_config(const std::string& target, const std::string& draft) {
  return proof_task(resolve(Json::parse(R"({"title": "t", "models": {"target": )" + target +
                                        R"(, "draft": )" + draft + R"(}, "gamma": 2})")));
}

}  // namespace

TEST_CASE("numbers as people write them") {
  CHECK(parse_rational(".5") == Rational(1, 2));
  CHECK(parse_rational("0.25") == Rational(1, 4));
  CHECK(parse_rational("010") == Rational(10));
  CHECK(parse_rational("1/3") == Rational(1, 3));
  CHECK(parse_rational("2e-3") == Rational(1, 500));
  CHECK(parse_rational("1.5E2") == Rational(150));
  CHECK(parse_rational("0") == Rational(0));
  CHECK(parse_rational("0.0") == Rational(0));
  for (const char* bad :
       {"", ".", "-1", "1/0", "a", "1/", "/2", "1e", "1e9999", "1.2.3", "0x1", "inf", "nan"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_rational(bad).has_value());
  }
}

TEST_CASE("rows are normalised, and errors name the option and the word") {
  CHECK(parse_rows("1,2", "--target") == ExactRows{{Rational(1, 3), Rational(2, 3)}});
  CHECK(parse_rows("1,1; 0,1", "--target").size() == 2);
  for (const char* bad : {"", "1,x", "1,1;1", "0,0", "1,1;1,1;1,1", "1,,1"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(parse_rows(bad, "--target"), doctest::Contains("--target"), UsageError);
  }
}

TEST_CASE("golden vector: fractions when exact, the same numbers to 1e-12 otherwise") {
  for (const auto& [verifier, acceptance, tv] :
       {std::tuple{R"({"kind": "token"})", "3/5", "0"},
        {R"({"kind": "match"})", "13/50", "0"},
        {R"({"kind": "rejection"})", "1/5", "0"},
        {R"({"kind": "gumbel"})", "18/35", "0"},
        {R"({"kind": "recursive", "drafts": 2})", "16/25", "0"},
        {R"({"kind": "without-replacement", "drafts": 2})", "7/10", "0"},
        {R"({"kind": "recursive", "drafts": 3})", "169/250", "0"},
        {R"({"kind": "without-replacement", "drafts": 3})", "1", "0"},
        {R"({"kind": "lenient", "lenience": 0.5})", "4/5", "1/5"},
        {R"({"kind": "lenient", "lenience": 0.5, "residual": "literal"})", "4/5", "1/4"},
        {R"({"kind": "lenient", "lenience": 0.5, "residual": "target"})", "4/5", "3/10"}}) {
    CAPTURE(verifier);
    const Json exact = prove(golden(verifier), true);
    CHECK(exact.at("acceptance") == acceptance);
    CHECK(exact.at("tv") == tv);
    CHECK(exact.at("lossless") == (std::string(tv) == "0"));
    CHECK(exact.contains("counterexample") != exact.at("lossless").get<bool>());
    CHECK(exact.at("arithmetic") == "rational");
    const Json rounded = prove(golden(verifier), false);
    CHECK(rounded.at("lossless") == exact.at("lossless"));
    for (const char* key :
         {"acceptance", "tv", "expected_accepted", "expected_emitted", "rejection", "optimum"}) {
      CAPTURE(key);
      const auto value = static_cast<double>(Rational(exact.at(key).get<std::string>()));
      CHECK(std::abs(rounded.at(key).get<double>() - value) < 1e-12);
    }
  }
}

TEST_CASE(
    "configs: written decimals are exact, mixtures of them too, computed laws are the doubles they are") {
  const ProofTask written =
      from_config(R"({"kind": "table", "rows": [[0.1, 0.9]]})",
                  R"({"kind": "mixture", "epsilon": 0.3, "other": {"kind": "uniform"}})");
  CHECK(written.target == ExactRows{{Rational(1, 10), Rational(9, 10)}});
  CHECK(written.draft == ExactRows{{Rational(22, 100), Rational(78, 100)}});
  CHECK(prove(written, true).at("lossless") == true);
  const ProofTask computed = from_config(R"({"kind": "zipf", "vocab": 3})", R"({"kind": "uniform"})");
  Rational total(0);
  for (const Rational& probability : computed.target.front()) total += probability;
  CHECK(total == 1);
  CHECK(prove(computed, true).at("lossless") == true);
  CHECK_THROWS_AS(from_config(R"({"kind": "uniform", "vocab": 4})", R"({"kind": "copy"})"), ConfigError);
}

TEST_CASE("the branch bound holds, and what exceeds the limit is refused with the count") {
  for (const SurveyedVerifier& verifier : surveyed_verifiers()) {
    for (std::uint32_t number = 0; number < 12; ++number) {
      const ProofTask task = survey_instance(verifier, 3, number);
      CAPTURE(verifier.label);
      CAPTURE(number);
      CHECK(prove(task, false).at("branches").get<double>() <= branch_bound(task));
    }
  }
  const ProofTask large = golden(R"({"kind": "tree", "drafts": 3})", 3);
  CHECK_THROWS_WITH_AS(check_branches(large, 1e6), doctest::Contains("branches"), UsageError);
  check_branches(golden(R"({"kind": "token"})"), 1e6);
}

TEST_CASE("a survey: every promise kept, the same at any number of threads, and a broken promise seen") {
  const Json survey = prove_all(8, 1, Control{});
  CHECK(survey.at("kept") == true);
  CHECK(survey.at("verifiers").size() == surveyed_verifiers().size());
  CHECK(survey == prove_all(8, 1, Control{}));
  for (const Json& row : survey.at("verifiers")) {
    CAPTURE(row.at("verifier").get<std::string>());
    if (row.at("promise") == "lossless") {
      CHECK(row.at("worst_tv") == "0");
      CHECK(row.at("mean_acceptance").get<double>() <= row.at("mean_optimum").get<double>() + 1e-12);
    } else if (row.at("promise") == "lossy") {
      CHECK(row.contains("counterexample"));
    }
  }
  const SurveyedVerifier liar{"liar", {{"kind", "fault-resample-target"}}, Promise::lossless};
  bool refuted = false;
  for (std::uint32_t number = 0; number < 8; ++number) {
    if (prove(survey_instance(liar, 1, number), true).at("lossless") == false) refuted = true;
  }
  CHECK(refuted);
}
