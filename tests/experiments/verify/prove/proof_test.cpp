#include "experiments/verify/prove/proof.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "experiments/config/config.hpp"
#include "experiments/verify/prove/proof_task.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/rule_of.hpp"

using namespace speclab;

namespace {

ProofTask golden(const std::string& rule, int gamma = 1) {
  ProofTask task;
  task.target = parse_rows(".5,.3,.2", "--target");
  task.draft = parse_rows(".1,.3,.6", "--draft");
  task.rule = rule_of(rule);
  task.gamma = gamma;
  return task;
}

ProofTask from_config(const std::string& target, const std::string& draft) {
  return proof_task(read_config(parse_json(R"({"title": "t", "models": {"target": )" + target +
                                           R"(, "draft": )" + draft + R"(}, "gamma": 2})")));
}

std::string fraction(const ProofNumber& number) { return std::get<std::string>(number); }

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

TEST_CASE("rows sum to 1 but for rounding, and errors name the option and the word") {
  CHECK(parse_rows("1/3,2/3", "--target") == ExactRows{{Rational(1, 3), Rational(2, 3)}});
  CHECK(parse_rows(".3333,.3333,.3333", "--target") == ExactRows{std::vector(3, Rational(1, 3))});
  CHECK(parse_rows(".5/.9,.3/.9,.1/.9", "--target") ==
        ExactRows{{Rational(5, 9), Rational(1, 3), Rational(1, 9)}});
  CHECK(parse_rows(".5,.5; 0,1", "--target").size() == 2);
  for (const char* bad : {"", "1,x", ".5,.5;1", "0,0", ".5,.5;.5,.5;.5,.5", "1,,0"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(parse_rows(bad, "--target"), doctest::Contains("--target"), UsageError);
  }
  for (const auto& [bad, sum] : {std::pair{".5,.3,.1", "row 1 sums to 0.9"},
                                 {".5,.3,.1989", "row 1 sums to 0.9989"},
                                 {".5,.3,.2011", "row 1 sums to 1.0011"},
                                 {".5,.5;50,50", "row 2 sums to 100"},
                                 {"0,0", "row 1 sums to 0"}}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(parse_rows(bad, "--target"), doctest::Contains(sum), UsageError);
  }
}

TEST_CASE("golden vector: fractions when exact, the same numbers to 1e-12 otherwise") {
  for (const auto& [rule, acceptance, tv] :
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
    CAPTURE(rule);
    const Proof exact = prove(golden(rule), Arithmetic::rational);
    CHECK(fraction(exact.acceptance) == acceptance);
    CHECK(fraction(exact.tv) == tv);
    CHECK(exact.lossless == (std::string(tv) == "0"));
    CHECK(exact.counterexample.has_value() != exact.lossless);
    CHECK(exact.arithmetic == Arithmetic::rational);
    const Proof rounded = prove(golden(rule), Arithmetic::floating_point);
    CHECK(rounded.lossless == exact.lossless);
    const auto near = [](const ProofNumber& a, const ProofNumber& b) {
      return std::abs(as_double(a) - as_double(b)) < 1e-12;
    };
    CHECK(near(rounded.acceptance, exact.acceptance));
    CHECK(near(rounded.tv, exact.tv));
    CHECK(near(rounded.expected_accepted, exact.expected_accepted));
    CHECK(near(rounded.expected_emitted, exact.expected_emitted));
    CHECK(near(rounded.rejection, exact.rejection));
    CHECK(near(*rounded.optimal_transport_bound, *exact.optimal_transport_bound));
  }
}

TEST_CASE("without drafted tokens there is no bound on their acceptance") {
  CHECK_FALSE(prove(golden(R"({"kind": "token"})", 0), Arithmetic::rational).optimal_transport_bound);
}

TEST_CASE(
    "rules that take the argmax have the bound of greedy decoding, which accepts no more than q(argmax)") {
  const Proof greedy = prove(golden(R"({"kind": "lenient-greedy"})"), Arithmetic::rational);
  CHECK(fraction(greedy.acceptance) == "1/10");
  CHECK(fraction(*greedy.optimal_transport_bound) == "1/10");
}

TEST_CASE("a proof compares the token after gamma accepted ones") {
  const auto refused = [](int tokens) {
    return config_error_of([&] {
      proof_task(read_config(parse_json(
          R"({"title": "t", "models": {"target": {"kind": "uniform", "vocab": 2}, "draft": {"kind": "uniform"}},
              "rule": {"kind": "fault-draft-bonus"}, "gamma": 2, "prove": {"tokens": )" +
          std::to_string(tokens) + "}}")));
    });
  };
  CHECK(refused(2).starts_with("/prove/tokens: "));
  CHECK(refused(3).empty());
}

TEST_CASE("a proof as JSON: fractions as text, former rule names understood") {
  Json json;
  write(described<Proof>(), prove(golden(R"({"kind": "token"})"), Arithmetic::rational), json);
  CHECK(json.at("rule").at("kind") == "token");
  CHECK(json.at("optimal_transport_bound") == "3/5");
  CHECK(json.at("distribution").at("0,0") == "1/4");
  CHECK(json.at("target_distribution").at("0,0") == "1/4");
  CHECK_FALSE(json.contains("counterexample"));
  CHECK(json.at("arithmetic") == "rational");
}

TEST_CASE(
    "configs: written decimals are exact, mixtures of them too, computed rows are the doubles they are") {
  const ProofTask written =
      from_config(R"({"kind": "table", "rows": [[0.1, 0.9]]})",
                  R"({"kind": "mixture", "epsilon": 0.3, "other": {"kind": "uniform"}})");
  CHECK(written.target == ExactRows{{Rational(1, 10), Rational(9, 10)}});
  CHECK(written.draft == ExactRows{{Rational(22, 100), Rational(78, 100)}});
  CHECK(prove(written, Arithmetic::rational).lossless);
  const ProofTask computed = from_config(R"({"kind": "zipf", "vocab": 3})", R"({"kind": "uniform"})");
  Rational total(0);
  for (const Rational& probability : computed.target.front()) total += probability;
  CHECK(total == 1);
  CHECK(prove(computed, Arithmetic::rational).lossless);
  CHECK(config_error_of([] {
          from_config(R"({"kind": "uniform", "vocab": 4})",
                      R"({"kind": "cached", "base": {"kind": "uniform"}})");
        }).find("/models/draft") == 0);
}

TEST_CASE("rows that are alike in every context: a rule must be lossless on rows made from them as well") {
  ProofTask task = golden(R"({"kind": "token"})", 2);
  CHECK(prove(task, Arithmetic::rational).rows == ProvedRows::also_made);
  task.rule = rule_of(R"({"kind": "fault-late-context"})");
  for (const Arithmetic arithmetic : {Arithmetic::rational, Arithmetic::floating_point}) {
    const Proof late = prove(task, arithmetic);
    CHECK_FALSE(late.lossless);
    CHECK(late.rows == ProvedRows::made);
    CHECK(late.target.value().size() == 3);
    CHECK(late.draft.value().size() == 3);
  }
  // The printed rows are those of the numbers: given as input, they yield the same proof.
  const Proof made = prove(task, Arithmetic::rational);
  const auto rows_text = [](const std::vector<std::vector<ProofNumber>>& rows) {
    std::string text;
    for (const auto& row : rows) {
      if (!text.empty()) text += ';';
      for (std::size_t id = 0; id < row.size(); ++id) text += (id > 0 ? "," : "") + fraction(row[id]);
    }
    return text;
  };
  task.target = parse_rows(rows_text(*made.target), "--target");
  task.draft = parse_rows(rows_text(*made.draft), "--draft");
  const Proof again = prove(task, Arithmetic::rational);
  CHECK(again.rows == ProvedRows::given);
  CHECK(fraction(again.tv) == fraction(made.tv));
  CHECK(again.target == made.target);
  // A point mass at token 0 stays there.
  task.target = parse_rows("1,0,0", "--target");
  task.draft = parse_rows(".1,.3,.6", "--draft");
  CHECK(prove(task, Arithmetic::rational).rows == ProvedRows::alike);
  task.rule = rule_of(R"({"kind": "fault-accept-all"})");
  CHECK(prove(task, Arithmetic::rational).rows == ProvedRows::given);
}

TEST_CASE("what exceeds the limit is refused with the count") {
  ProofTask large = golden(R"({"kind": "tree", "drafts": 3})", 3);
  large.max_branches = 1e6;
  CHECK_THROWS_WITH_AS(check_branches(large, Arithmetic::rational), doctest::Contains("branches"),
                       ConfigError);
  ProofTask small = golden(R"({"kind": "token"})");
  small.max_branches = 1e6;
  check_branches(small, Arithmetic::rational);
}

TEST_CASE("a round is examined from every context in which one can start, and the refuting one is named") {
  ProofTask task;
  task.target = parse_rows(".5,.5;.9,.1", "--target");
  task.draft = parse_rows(".5,.5;.1,.9", "--draft");
  task.rule = rule_of(R"({"kind": "lenient", "lenience": 0.5})");
  ProofTask there = task;
  there.context = {1};
  for (const Arithmetic arithmetic : {Arithmetic::rational, Arithmetic::floating_point}) {
    const Proof found = prove(task, arithmetic);
    CHECK_FALSE(found.lossless);
    CHECK(found.context == std::vector<Token>{1});
    CHECK(found.counterexample->tokens == std::vector<Token>{1, 0});
    CHECK(terminal(proof_text(found)).find("a round after 1 shows this") != std::string::npos);
    CHECK(found.tv == prove(there, arithmetic).tv);
  }
  task.rule = rule_of(R"({"kind": "block"})");
  const Proof all = prove(task, Arithmetic::rational);
  CHECK(all.lossless);
  CHECK(all.contexts == 2);
  CHECK(all.all_contexts == true);
  CHECK(all.context.empty());
  // A limit on branches leaves contexts out, and the text says so.
  task.max_branches = 4;
  const Proof one = prove(task, Arithmetic::rational);
  CHECK(one.contexts == 1);
  CHECK(terminal(proof_text(one)).find("others may show a difference") != std::string::npos);
  // Decoding never comes to token 2, after which the rows differ, and the last two tokens matter in order 2.
  task.max_branches.reset();
  task.target = parse_rows(".5,.5,0;.5,.5,0;0,0,1", "--target");
  task.draft = parse_rows(".2,.8,0;.2,.8,0;1,0,0", "--draft");
  CHECK(prove(task, Arithmetic::rational).contexts == 2);
  task.draft = parse_rows(".5,.5;.5,.5;.1,.9;.1,.9", "--draft");
  task.target = parse_rows(".5,.5", "--target");
  CHECK(prove(task, Arithmetic::rational).contexts == 4);
}

TEST_CASE("where rounding decides a tie, the proof in doubles is replaced by that in fractions") {
  ProofTask task;
  task.target = parse_rows(".4,.3,.3", "--target");
  task.draft = parse_rows(".6,.3,.1", "--draft");
  task.gamma = 2;
  task.rule = rule_of(R"({"kind": "lenient-greedy", "lenience": 0.75})");
  const Proof found = prove(task, Arithmetic::floating_point);
  const Proof exact = prove(task, Arithmetic::rational);
  CHECK(found.lossless == exact.lossless);
  CHECK(found.tv == exact.tv);
  CHECK(found.tv_in_doubles.has_value());
  CHECK(terminal(proof_text(found)).find("rounding decides a tie") != std::string::npos);
  CHECK_FALSE(exact.tv_in_doubles.has_value());
  task.rule = rule_of(R"({"kind": "token"})");
  CHECK(prove(task, Arithmetic::floating_point).arithmetic == Arithmetic::floating_point);
}

TEST_CASE("a planted fault is named, and refused where it changes nothing") {
  const auto task = [](const std::string& sampling, const std::string& fault) {
    return proof_task(read_config(parse_json(
        R"({"title": "t", "models": {"target": {"kind": "table", "rows": [[5, 3, 2], [1, 6, 3], [2, 2, 6]]},
            "draft": {"kind": "table", "rows": [[4, 4, 2], [1, 5, 4], [3, 2, 5]]}}, "gamma": 1,
            "simulation": {"prompt": [0, 1]}, "prove": {"tokens": 3, "fault": ")" +
        fault + R"("}, "sampling": )" + sampling + "}")));
  };
  const Proof found = prove(task(R"({"frequency_penalty": 1})", "bonus-only"), Arithmetic::floating_point);
  CHECK_FALSE(found.lossless);
  CHECK(found.fault == "bonus-only");
  CHECK(proof_headline(found).find("With the planted fault bonus-only, token is not lossless") == 0);
  CHECK_FALSE(prove(task(R"({"frequency_penalty": 1})", "none"), Arithmetic::floating_point).fault);
  // The draft's rows change, and decoding is lossless nevertheless.
  CHECK(prove(task(R"({"frequency_penalty": 1})", "plain-draft"), Arithmetic::rational).lossless);
  for (const auto& [sampling, fault] : {std::pair{R"({"frequency_penalty": 1})", "grammar-off-bonus"},
                                        {"{}", "bonus-only"},
                                        {R"({"top_k": 2})", "round-start"},
                                        {R"({"top_k": 2, "top_p": 0.65})", "chained-filters"}}) {
    CAPTURE(fault);
    const auto refused = [&] { prove(task(sampling, fault), Arithmetic::floating_point); };
    CHECK(config_error_of(refused).find("/prove/fault: \"" + std::string(fault) + "\" changes nothing") == 0);
  }
  const std::string joint = R"({"top_k": 2, "top_p": 0.65, "order": "sglang"})";
  CHECK_FALSE(prove(task(joint, "chained-filters"), Arithmetic::floating_point).lossless);
}

TEST_CASE(
    "a sampling option is the same over one round and over several, and one that changes nothing changes nothing") {
  const auto law = [](const std::string& more) {
    const Proof found =
        prove(proof_task(read_config(parse_json(
                  R"({"title": "t", "models": {"target": {"kind": "table", "rows": [[0.2, 0.3, 0.5]]},
                "draft": {"kind": "table", "rows": [[4, 4, 2]]}}, "gamma": 1, "simulation": {"prompt": [0]}, )" +
                  more + "}"))),
              Arithmetic::rational);
    std::map<std::string, double> out;
    for (const auto& [tokens, probability] : *found.target_distribution) out[tokens] = as_double(probability);
    return out;
  };
  const auto plain = law(R"("sampling": {"top_p": 0.8})");
  CHECK(plain.at("1,1") == doctest::Approx(9.0 / 64).epsilon(1e-12));
  for (const char* more : {R"("sampling": {"top_p": 0.8}, "prove": {"tokens": 2})",
                           R"("sampling": {"top_p": 0.8, "logit_bias": {"0": 0}})",
                           R"("sampling": {"top_p": 0.8, "grammar": [{"*": 0}]}, "prove": {"tokens": 2})"}) {
    const auto found = law(more);
    REQUIRE(found.size() == plain.size());
    for (const auto& [tokens, probability] : plain)
      CHECK(found.at(tokens) == doctest::Approx(probability).epsilon(1e-12));
  }
}
