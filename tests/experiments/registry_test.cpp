#include "experiments/registry.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/format/document.hpp"
#include "experiments/format/validate.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

Json config(const std::string& target, const std::string& draft, const std::string& rest = "") {
  return resolve(parse_json(R"({"title": "t", "models": {"target": )" + target + R"(, "draft": )" + draft +
                            "}" + (rest.empty() ? "" : ", " + rest) + "}"));
}

Setup build(const std::string& target, const std::string& draft, const std::string& rest = "") {
  return Registry().build(config(target, draft, rest));
}

std::string error_of(const Json& resolved) {
  return config_error_of([&] { Registry().build(resolved); });
}

double probability(const Model& model, Token token) {
  std::vector<double> scratch;
  return model.next({}, scratch)[token];
}

/// A text in a file of the test's own.
class Text {
 public:
  explicit Text(const std::string& text) {
    static std::atomic<int> made{0};
    path = std::filesystem::temp_directory_path() /
           ("speclab_text_" + std::to_string(::getpid()) + "_" + std::to_string(made++));
    std::ofstream(path) << text;
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }

  std::string corpus(const std::string& units = "words") const {
    return R"("corpus": {"file": ")" + path.string() + R"(", "units": ")" + units + R"("})";
  }

  std::filesystem::path path;
};

constexpr const char* zipf = R"({"kind": "zipf", "vocab": 50})";
constexpr const char* skewed = R"({"kind": "table", "rows": [[0.5, 0.3, 0.2]]})";

}  // namespace

TEST_CASE("a mixture asked for an alpha has it") {
  for (const char* alpha : {"0.3", "0.75", "0.999", "1"}) {
    const Setup setup = build(zipf, std::string(R"({"kind": "mixture", "alpha": )") + alpha +
                                        R"(, "other": {"kind": "point", "token": 49}})");
    REQUIRE(setup.exact_alpha);
    CHECK(*setup.exact_alpha == doctest::Approx(std::stod(alpha)).epsilon(1e-12));
  }
}

TEST_CASE("a mixture by epsilon: 1 - epsilon * TV(base, other)") {
  // TV((.5, .3, .2), uniform) = 1/6.
  const Setup setup = build(skewed, R"({"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}})");
  REQUIRE(setup.exact_alpha);
  CHECK(*setup.exact_alpha == doctest::Approx(1 - 0.5 / 6).epsilon(1e-12));
  CHECK(probability(setup.draft, 0) == doctest::Approx(0.5 * 0.5 + 0.5 / 3).epsilon(1e-12));
}

TEST_CASE("a Markov target: one alpha in every context, or none at all") {
  constexpr const char* markov = R"({"kind": "markov", "vocab": 12, "seed": 3})";
  const Setup exact = build(markov, R"({"kind": "mixture", "alpha": 0.8, "other": {"kind": "uniform"}})");
  REQUIRE(exact.exact_alpha);
  CHECK(*exact.exact_alpha == doctest::Approx(0.8).epsilon(1e-12));
  REQUIRE(exact.draft.table() != nullptr);
  CHECK(exact.draft.table()->order() == 1);
  CHECK_FALSE(
      build(markov, R"({"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}})").exact_alpha);
  CHECK_FALSE(build(markov, R"({"kind": "copy"})").exact_alpha);
}

TEST_CASE("an alpha below the overlap with the other model cannot be reached, and the least is named") {
  const std::string error =
      error_of(config(skewed, R"({"kind": "mixture", "alpha": 0.5, "other": {"kind": "uniform"}})"));
  CHECK(error.starts_with("/models/draft/alpha: alpha = 0.5 cannot be reached"));
  CHECK(error.find("0.833333") != std::string::npos);
}

TEST_CASE("temperature 0 makes point masses; alpha is then 0 or 1") {
  const std::string zero = R"("sampling": {"temperature": 0})";
  const Setup agree = build(skewed, R"({"kind": "table", "rows": [[0.4, 0.3, 0.3]]})", zero);
  CHECK(probability(agree.target, 0) == 1);
  CHECK(probability(agree.target, 1) == 0);
  REQUIRE(agree.exact_alpha);
  CHECK(*agree.exact_alpha == 1);
  const Setup differ = build(skewed, R"({"kind": "table", "rows": [[0.2, 0.5, 0.3]]})", zero);
  REQUIRE(differ.exact_alpha);
  CHECK(*differ.exact_alpha == 0);
}

TEST_CASE("a model's own sampling stands instead of the config's") {
  const Setup setup =
      build(skewed, R"({"kind": "table", "rows": [[0.4, 0.3, 0.3]], "sampling": {"temperature": 1}})",
            R"("sampling": {"temperature": 0})");
  CHECK(probability(setup.target, 0) == 1);
  CHECK(probability(setup.draft, 0) == doctest::Approx(0.4).epsilon(1e-12));
  CHECK(*setup.exact_alpha == doctest::Approx(0.4).epsilon(1e-12));
  // The draft mixes the target before its sampling options, and then has its own.
  const Setup mixture =
      build(R"({"kind": "table", "rows": [[0.5, 0.3, 0.2]], "sampling": {"temperature": 0}})",
            R"({"kind": "mixture", "alpha": 1, "other": {"kind": "uniform"}})");
  CHECK(probability(mixture.draft, 1) == doctest::Approx(0.3).epsilon(1e-12));
  CHECK(*mixture.exact_alpha == doctest::Approx(0.5).epsilon(1e-12));
}

TEST_CASE("top-k and top-p") {
  CHECK(probability(build(skewed, R"({"kind": "uniform"})", R"("sampling": {"top_k": 2})").target, 0) ==
        doctest::Approx(0.625).epsilon(1e-12));
  CHECK(probability(build(skewed, R"({"kind": "uniform"})", R"("sampling": {"top_p": 0.4})").target, 0) == 1);
}

TEST_CASE("the acceptance rate is that of the rule") {
  constexpr const char* draft = R"({"kind": "table", "rows": [[0.2, 0.3, 0.5]]})";
  CHECK(*build(skewed, draft).exact_alpha == doctest::Approx(0.7).epsilon(1e-12));
  // Lenience 0.5: sum of min(q, p / l) = min(.2, 1) + min(.3, .6) + min(.5, .4).
  CHECK(*build(skewed, draft, R"("verifier": {"kind": "lenient", "lenience": 0.5})").exact_alpha ==
        doctest::Approx(0.9).epsilon(1e-12));
  CHECK(*build(skewed, draft, R"("verifier": {"kind": "lenient", "lenience": 1})").exact_alpha ==
        doctest::Approx(0.7).epsilon(1e-12));
  // Greedy lenience 0.5: kept where p >= 0.25, tokens 0 and 1.
  CHECK(*build(skewed, draft, R"("verifier": {"kind": "lenient-greedy", "lenience": 0.5})").exact_alpha ==
        doctest::Approx(0.5).epsilon(1e-12));
  CHECK(*build(skewed, draft, R"("verifier": {"kind": "fault-accept-all"})").exact_alpha == 1);
}

TEST_CASE("tables: orders by the number of rows, and from a file") {
  const Setup chain = build(R"({"kind": "table", "rows": [[1, 3], [1, 1]]})", R"({"kind": "uniform"})");
  REQUIRE(chain.target.table() != nullptr);
  CHECK(chain.target.table()->order() == 1);
  CHECK(probability(chain.target, 1) == 0.75);
  const Setup second =
      build(R"({"kind": "table", "rows": [[1, 0], [0, 1], [1, 1], [2, 1]]})", R"({"kind": "uniform"})");
  CHECK(second.target.table()->order() == 2);
  CHECK(build(R"({"kind": "table", "rows": [[7]]})", R"({"kind": "uniform"})").target.table()->order() == 0);
  const Text rows("0.5,0.5\n0.25,0.75\n");
  const Setup from_file =
      build(R"({"kind": "table", "file": ")" + rows.path.string() + R"("})", R"({"kind": "uniform"})");
  CHECK(from_file.target.table()->order() == 1);
}

TEST_CASE("a draft without a vocabulary takes the target's") {
  CHECK(build(zipf, R"({"kind": "zipf", "reversed": true})").draft.vocab() == 50);
  CHECK(error_of(config(zipf, R"({"kind": "uniform", "vocab": 51})")) ==
        "/models/draft: has a vocabulary of 51 tokens; the target has 50. They must agree");
}

TEST_CASE("the plan") {
  const Setup setup =
      build(zipf, R"({"kind": "uniform"})",
            R"("seed": 9, "plan": {"trials": 3, "length": 7, "batches": 4, "prompt": [2, 49]})");
  CHECK(setup.plan.seed == 9);
  CHECK(setup.plan.trials == 3);
  CHECK(setup.plan.length == 7);
  CHECK(setup.plan.batches == 4);
  CHECK(setup.plan.prompt(2) == std::vector<Token>{2, 49});
}

TEST_CASE("n-gram models of a text") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "it is a truth universally acknowledged , that a single man . ";
  const Text file(text);
  constexpr const char* target = R"({"kind": "ngram", "order": 3})";
  constexpr const char* draft = R"({"kind": "bigram"})";
  const Setup setup = build(target, draft, file.corpus() + R"(, "plan": {"prompt": "it is a"})");
  REQUIRE(setup.vocabulary != nullptr);
  CHECK(setup.target.vocab() == setup.vocabulary->size());
  CHECK(setup.vocabulary->join(setup.plan.prompt(0)) == "it is a");
  CHECK_FALSE(setup.exact_alpha);

  const Setup places =
      build(target, draft, file.corpus() + R"(, "plan": {"trials": 20, "prompt_tokens": 5})");
  CHECK(places.plan.prompts.size() == 20);
  for (const auto& prompt : places.plan.prompts) CHECK(prompt.size() == 5);
  CHECK(std::any_of(places.plan.prompts.begin(), places.plan.prompts.end(),
                    [&](const auto& prompt) { return prompt != places.plan.prompts[0]; }));

  CHECK(error_of(config(target, draft, file.corpus() + R"(, "plan": {"prompt_tokens": 100000})"))
            .starts_with("/plan/prompt_tokens: 100000 is not less than the corpus's "));
  CHECK(
      error_of(config(zipf, R"({"kind": "uniform"})", file.corpus() + R"(, "plan": {"prompt_tokens": 2})")) ==
      "/plan/prompt_tokens: needs a target trained on the corpus");
  CHECK(error_of(config(target, R"({"kind": "mixture", "alpha": 0.8, "other": {"kind": "uniform"}})",
                        file.corpus()))
            .starts_with("/models/draft/alpha: needs stored rows on both sides"));
  CHECK(error_of(config(target, draft)).starts_with("/corpus: missing"));
  const Text empty(" \n");
  CHECK(error_of(config(target, draft, empty.corpus())).starts_with("/corpus/file: " + empty.path.string()));
}

TEST_CASE("a prompt of words that an ARPA model does not know") {
  const Text file("\\data\\\nngram 1=2\n\n\\1-grams:\n-0.30103\tyes\n-0.30103\tno\n\n\\end\\\n");
  const std::string model = R"({"kind": "arpa", "file": ")" + file.path.string() + R"("})";
  CHECK(build(model, model, R"("plan": {"prompt": "no yes"})").plan.prompt(0) == std::vector<Token>{1, 0});
  const std::string error = error_of(config(model, model, R"("plan": {"prompt": "yes maybe"})"));
  CHECK(error.starts_with("/plan/prompt: "));
  CHECK(error.find("maybe") != std::string::npos);
}

TEST_CASE("parts are shared: two builds of one config cost one training") {
  const Text file("one two three two one three two one one two three three two one");
  const Json both = config(R"({"kind": "bigram"})", R"({"kind": "unigram"})", file.corpus());
  Registry registry;
  const Setup first = registry.build(both);
  std::filesystem::remove(file.path);
  const Setup again = registry.build(both);
  CHECK(again.vocabulary.get() == first.vocabulary.get());
}
