#include "experiments/run/setup.hpp"
#include "experiments/config/config.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Config config(const std::string& target, const std::string& draft, const std::string& rest = "") {
  return read_config(parse_json(R"({"title": "t", "models": {"target": )" + target + R"(, "draft": )" +
                                draft + "}" + (rest.empty() ? "" : ", " + rest) + "}"));
}

Setup build(const std::string& target, const std::string& draft, const std::string& rest = "") {
  ModelFactory factory;
  return build_setup(config(target, draft, rest), factory);
}

std::string error_of(const std::string& target, const std::string& draft, const std::string& rest = "") {
  return config_error_of([&] { build(target, draft, rest); });
}

double probability(const Model& model, Token token) {
  std::vector<double> scratch;
  return model.next({}, scratch)[token];
}

std::string corpus(const TempFile& file) {
  return R"("corpus": {"file": ")" + file.path().string() + R"("})";
}

constexpr const char* zipf = R"({"kind": "zipf", "vocab": 50})";
constexpr const char* uniform = R"({"kind": "uniform"})";
constexpr const char* skewed = R"({"kind": "table", "rows": [[0.5, 0.3, 0.2]]})";

}  // namespace

TEST_CASE("the acceptance rate of stored rows, when it is one number in every context") {
  // TV((.5, .3, .2), uniform) = 1/6.
  const Setup mixture = build(skewed, R"({"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}})");
  REQUIRE(mixture.exact_alpha);
  CHECK(*mixture.exact_alpha == doctest::Approx(1 - 0.5 / 6).epsilon(1e-12));
  constexpr const char* markov = R"({"kind": "markov", "vocab": 12, "seed": 3})";
  const Setup exact = build(markov, R"({"kind": "mixture", "alpha": 0.8, "other": {"kind": "uniform"}})");
  REQUIRE(exact.exact_alpha);
  CHECK(*exact.exact_alpha == doctest::Approx(0.8).epsilon(1e-12));
  CHECK_FALSE(
      build(markov, R"({"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}})").exact_alpha);
  CHECK_FALSE(build(markov, R"({"kind": "cached", "base": {"kind": "uniform"}})").exact_alpha);
}

TEST_CASE("the acceptance rate is that of the rule") {
  constexpr const char* draft = R"({"kind": "table", "rows": [[0.2, 0.3, 0.5]]})";
  CHECK(*build(skewed, draft).exact_alpha == doctest::Approx(0.7).epsilon(1e-12));
  // Lenience 0.5: sum of min(q, p / l) = min(.2, 1) + min(.3, .6) + min(.5, .4).
  CHECK(*build(skewed, draft, R"("rule": {"kind": "lenient", "lenience": 0.5})").exact_alpha ==
        doctest::Approx(0.9).epsilon(1e-12));
  // Greedy lenience 0.5 accepts tokens with p >= 0.25: 0 and 1.
  CHECK(*build(skewed, draft, R"("rule": {"kind": "lenient-greedy", "lenience": 0.5})").exact_alpha ==
        doctest::Approx(0.5).epsilon(1e-12));
  CHECK(*build(skewed, draft, R"("rule": {"kind": "fault-accept-all"})").exact_alpha == 1);
  CHECK_FALSE(build(skewed, draft, R"("rule": {"kind": "block"})").exact_alpha);
}

TEST_CASE("temperature 0 makes point masses; alpha is then 0 or 1") {
  const std::string zero = R"("sampling": {"temperature": 0})";
  const Setup agree = build(skewed, R"({"kind": "table", "rows": [[0.4, 0.3, 0.3]]})", zero);
  CHECK(probability(agree.target, 0) == 1);
  CHECK(*agree.exact_alpha == 1);
  CHECK(*build(skewed, R"({"kind": "table", "rows": [[0.2, 0.5, 0.3]]})", zero).exact_alpha == 0);
}

TEST_CASE("at temperature 0 a rule that takes the argmax itself gets the probabilities") {
  const std::string rule = R"("rule": {"kind": "lenient-greedy", "lenience": 0.5})";
  const Setup greedy = build(skewed, uniform, rule + R"(, "sampling": {"temperature": 0})");
  CHECK(greedy.argmax_target);
  CHECK(probability(greedy.target, 1) == doctest::Approx(0.3));
  CHECK(probability(greedy.draft, 0) == 1);
  CHECK_FALSE(build(skewed, uniform, rule).argmax_target);
  CHECK_FALSE(build(skewed, uniform, R"("sampling": {"temperature": 0})").argmax_target);
}

TEST_CASE("the draft mixes the target before its sampling options, and then has its own") {
  const Setup mixture =
      build(R"({"kind": "table", "rows": [[0.5, 0.3, 0.2]], "sampling": {"temperature": 0}})",
            R"({"kind": "mixture", "epsilon": 0, "other": {"kind": "uniform"}})");
  CHECK(probability(mixture.target, 0) == 1);
  CHECK(probability(mixture.draft, 1) == doctest::Approx(0.3).epsilon(1e-12));
  CHECK(*mixture.exact_alpha == doctest::Approx(0.5).epsilon(1e-12));
}

TEST_CASE("models that do not fit together") {
  CHECK(build(zipf, R"({"kind": "zipf", "reversed": true})").draft.vocab() == 50);
  CHECK(error_of(zipf, R"({"kind": "uniform", "vocab": 51})") ==
        "/models/draft: has a vocabulary of 51 tokens; the target has 50. They must agree");
  CHECK(error_of(uniform, uniform).starts_with("/models/target/vocab: missing"));
  ModelFactory factory;
  const Config without = read_config(parse_json(R"({"title": "t"})"));
  CHECK(config_error_of([&] { build_setup(without, factory); }).starts_with("/models: missing"));
}

TEST_CASE("the simulation, with one prompt of token ids") {
  const Setup setup =
      build(zipf, uniform,
            R"("seed": 9, "simulation": {"trials": 3, "length": 7, "batches": 4, "prompt": [2, 49]})");
  CHECK(setup.simulation.seed == 9);
  CHECK(setup.simulation.trials == 3);
  CHECK(setup.simulation.length == 7);
  CHECK(setup.simulation.batches == 4);
  CHECK(setup.simulation.prompt(2) == std::vector<Token>{2, 49});
  CHECK(setup.engine == Engine::automatic);
  CHECK(build(zipf, uniform, R"("engine": "plain")").engine == Engine::plain);
  CHECK(error_of(zipf, uniform, R"("simulation": {"prompt": [2, 50]})") ==
        "/simulation/prompt/1: 50 is outside the vocabulary of 50 tokens");
  CHECK(error_of(zipf, uniform, R"("simulation": {"prompt": "two"})")
            .starts_with("/simulation/prompt: is text"));
}

TEST_CASE("prompts of texts") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "it is a truth universally acknowledged , that a single man . ";
  const TempFile file(text);
  constexpr const char* target = R"({"kind": "ngram", "order": 3})";
  constexpr const char* draft = R"({"kind": "bigram"})";
  const Setup setup = build(target, draft, corpus(file) + R"(, "simulation": {"prompt": "it is a"})");
  REQUIRE(setup.vocabulary != nullptr);
  CHECK(setup.target.vocab() == setup.vocabulary->size());
  CHECK(setup.vocabulary->join(setup.simulation.prompt(0)) == "it is a");
  CHECK_FALSE(setup.exact_alpha);

  const auto places =
      build(target, draft, corpus(file) + R"(, "simulation": {"trials": 20, "prompt_tokens": 5})")
          .simulation.prompts;
  CHECK(places.size() == 20);
  CHECK(std::all_of(places.begin(), places.end(), [](const auto& prompt) { return prompt.size() == 5; }));
  CHECK(std::any_of(places.begin(), places.end(), [&](const auto& prompt) { return prompt != places[0]; }));

  CHECK(error_of(target, draft, corpus(file) + R"(, "simulation": {"prompt_tokens": 100000})")
            .starts_with("/simulation/prompt_tokens: 100000 is not less than the corpus's "));
  CHECK(error_of(zipf, uniform, corpus(file) + R"(, "simulation": {"prompt_tokens": 2})") ==
        "/simulation/prompt_tokens: needs a target trained on the corpus");
  CHECK(error_of(target, draft, corpus(file) + R"(, "simulation": {"prompt": "it", "prompt_tokens": 2})")
            .starts_with("/simulation/prompt_tokens: is given together with"));
  CHECK(error_of(target, draft).starts_with("/corpus: missing"));
}

TEST_CASE("a prompt of words that an ARPA model does not know; words that two models do not share") {
  const auto arpa = [](const TempFile& file) {
    return R"({"kind": "arpa", "file": ")" + file.path().string() + R"("})";
  };
  const TempFile file("\\data\\\nngram 1=2\n\n\\1-grams:\n-0.30103\tyes\n-0.30103\tno\n\n\\end\\\n");
  const TempFile other("\\data\\\nngram 1=2\n\n\\1-grams:\n-0.30103\tyes\n-0.30103\tnone\n\n\\end\\\n");
  CHECK(build(arpa(file), arpa(file), R"("simulation": {"prompt": "no yes"})").simulation.prompt(0) ==
        std::vector<Token>{1, 0});
  const std::string error = error_of(arpa(file), arpa(file), R"("simulation": {"prompt": "yes maybe"})");
  CHECK(error.starts_with("/simulation/prompt: "));
  CHECK(error.find("maybe") != std::string::npos);
  CHECK(error_of(arpa(file), arpa(other)).starts_with("/models/draft: token 1 is \"none\" here"));
}

TEST_CASE("two set-ups of one factory cost one training") {
  const TempFile file("one two three two one three two one one two three three two one");
  const Config both = config(R"({"kind": "bigram"})", R"({"kind": "unigram"})", corpus(file));
  ModelFactory factory;
  const Setup first = build_setup(both, factory);
  std::filesystem::resize_file(file.path(), 0);  // a second read would find no text
  const Setup again = build_setup(both, factory);
  CHECK(again.vocabulary.get() == first.vocabulary.get());
  CHECK(again.target.ngram() == first.target.ngram());
}
