#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "experiments/format/document.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/registry.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Json config(const std::string& target, const std::string& draft, const std::string& rest = "") {
  return resolve(parse_json(R"({"title": "t", "models": {"target": )" + target + R"(, "draft": )" + draft +
                            "}" + rest + "}"));
}

double probability(const Model& model, std::span<const Token> context, Token token) {
  std::vector<double> scratch;
  return model.next(context, scratch)[token];
}

}  // namespace

TEST_CASE("cached: the constants of the config are the model's") {
  const std::string base = R"({"kind": "zipf", "vocab": 4, "exponent": 0})";
  const Setup setup = Registry().build(config(
      R"({"kind": "cached", "weight": 0.6, "half_match": 1, "unigram_weight": 0.2, "smoothing": 1, "base": )" +
          base + "}",
      R"({"kind": "cached", "max_match": 2, "window": 3, "base": )" + base + "}"));
  const std::vector<Token> text{0, 1, 0};
  CHECK(probability(setup.target, text, 1) == doctest::Approx(0.7 * 0.25 + 0.3 * 2 / 3));
  CHECK(probability(setup.target, std::span(text).first(2), 0) == doctest::Approx(0.8 * 0.25 + 0.1));
  // Defaults: u = 0.95 / 5, smoothing 2; pointer_1(1) = (1 + 2/3) / 3.
  CHECK(probability(setup.draft, text, 1) == doctest::Approx(0.81 * 0.25 + 0.19 * 5 / 9));
  CHECK(setup.target.memory() == 4096);
  CHECK(setup.draft.memory() == 3);
}

TEST_CASE("translation: target and draft share the vocabulary of both languages") {
  std::string source;
  std::string target;
  for (int i = 0; i < 40; ++i) {
    source += i % 2 == 0 ? "the cat\n" : "a dog\n";
    target += i % 2 == 0 ? "die Katze\n" : "ein Hund\n";
  }
  const TempFile english(source);
  const TempFile german(target);
  const std::string corpus = R"(, "corpus": {"file": ")" + english.path().string() +
                             R"(", "translation": ")" + german.path().string() + R"("})";
  const std::string model = R"({"kind": "translation", "order": 2})";
  const std::string bigram = R"({"kind": "bigram"})";
  Registry registry;
  const Setup setup = registry.build(
      config(model, bigram, corpus + R"(, "plan": {"trials": 1, "length": 1, "prompt": "the cat <sep>"})"));
  REQUIRE(setup.vocabulary != nullptr);
  CHECK(setup.vocabulary->size() == 10);  // with "<unk>" and "<sep>"
  REQUIRE(setup.plan.prompts.size() == 1);
  const std::vector<Token>& prompt = setup.plan.prompts[0];
  REQUIRE(prompt.size() == 3);
  CHECK(prompt[2] == 9);
  const Token die = setup.vocabulary->tokens("die")[0];
  CHECK(probability(setup.target, prompt, die) > 0.8);
  CHECK(probability(setup.draft, prompt, die) < 0.6);
  CHECK(setup.draft.ngram() != nullptr);
  CHECK(setup.draft.ngram()->order() == 2);
  const std::string alone = R"(, "corpus": {"file": ")" + english.path().string() + R"("})";
  CHECK(config_error_of([&] {
          Registry().build(config(model, bigram, alone));
        }).find("needs a corpus with a \"translation\"") != std::string::npos);
}

TEST_CASE("sphinx: a file of two words") {
  std::string bytes = "Trie Language Model";
  const auto add = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(std::uint8_t{1});
  add(std::uint32_t{2});
  for (const double probability : {0.75, 0.25, 1.0}) {  // the last one only ends the list
    add(static_cast<float>(std::log(probability) / std::log(1.0001)));
    add(0.0F);
    add(std::uint32_t{0});
  }
  add(std::uint32_t{8});
  bytes += std::string("one\0two\0", 8);
  const TempFile file(bytes);
  const std::string model = R"({"kind": "sphinx", "file": ")" + file.path().string() + "\"}";
  const Setup setup = Registry().build(config(model, model));
  CHECK(setup.vocabulary->text(1) == "two");
  CHECK(probability(setup.target, {}, 0) == doctest::Approx(0.75).epsilon(1e-5));
  const std::string missing = R"({"kind": "sphinx", "file": "no/such.bin"})";
  CHECK(config_error_of([&] { Registry().build(config(missing, model)); }).find("setup.sh pocketsphinx") !=
        std::string::npos);
}
