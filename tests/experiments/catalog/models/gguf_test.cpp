// Tests the model kind "gguf" on a model with random weights.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/base/support/machine.hpp"
#include "experiments/catalog/models/gguf.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/run/record_pair.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "sim/models/kneser_ney.hpp"
#include "tests/bounds.hpp"
#include "tests/experiments/catalog/models/built_model.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/models/tiny_llama.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

const bool without_libllama = !has_libllama();

TinyLlamaSize sharp(std::size_t blocks) {
  TinyLlamaSize size;
  size.blocks = blocks;
  size.scale = 0.5;
  return size;
}

bool says(const std::string& whole, const std::string& part) { return whole.find(part) != std::string::npos; }

/// A target, a smaller draft and a draft with another vocabulary, as files.
struct Files {
  TempFile target{TinyLlama(21, sharp(2)).gguf()};
  TempFile draft{TinyLlama(21, sharp(1)).gguf()};
  TempFile other{[] {
    TinyLlamaSize size;
    size.more_tokens = 3;
    return TinyLlama(21, size).gguf();
  }()};
  TempFile text{[] {
    std::string lines;
    for (int i = 0; i < 60; ++i) lines += "the other one is in there, on a thin line. ";
    return lines;
  }()};
};

Json gguf(const TempFile& file, Json more = Json::object()) {
  more["kind"] = "gguf";
  more["file"] = file.path().string();
  return more;
}

Json config_of(const Json& target, const Json& draft) {
  return {{"title", "t"},
          {"experiment", "decode"},
          {"models", {{"target", target}, {"draft", draft}}},
          {"cost", {{"c", 0.1}}},
          {"gamma", 3},
          {"simulation", {{"trials", 10}, {"length", 12}, {"prompt", "the other"}}}};
}

std::string error_of_run(const Json& config) {
  return config_error_of([&] { run_of(config); });
}

EqualityResult tested(const Json& config, const std::string& rule, const CheckSection& settings) {
  Json whole = config;
  whole["rule"] = {{"kind", rule}};
  const Setup setup = build_setup(read_config(whole));
  return test_equality(setup, 3, settings, Control{}).value();
}

}  // namespace

TEST_CASE("gguf kind: without libllama every use says what to run" * doctest::skip(has_libllama())) {
  MESSAGE("libllama is not there: tests of neural models are skipped");
  const Files files;
  CHECK(error_of_run(config_of(gguf(files.target), gguf(files.draft))).find("scripts/setup.sh neural") !=
        std::string::npos);
}

TEST_CASE("gguf kind: prompts are coded by the model, and n-grams of its tokens draft for it" *
          doctest::skip(without_libllama)) {
  const Files files;
  ModelFactory factory;
  Json config = config_of(gguf(files.target), gguf(files.draft));
  const Setup neural = build_setup(read_config(config), factory);
  CHECK(neural.simulation.prompt(0) == neural.vocabulary->tokens("the other"));
  CHECK(neural.simulation.prompt(0).front() == 257);

  config["models"]["draft"] = {{"kind", "bigram"}};
  config["corpus"] = {{"file", files.text.path().string()},
                      {"tokenization", "gguf"},
                      {"tokenizer", files.target.path().string()}};
  config["simulation"].erase("prompt");
  config["simulation"]["prompt_tokens"] = 6;
  const Setup mixed = build_setup(read_config(config), factory);
  CHECK(mixed.draft.ngram() != nullptr);
  CHECK(mixed.simulation.prompts.size() == 10);
  const Result result = run_of(config).result;
  CHECK(result.cells.front().counts.emitted >= 120);
}

TEST_CASE("gguf kind: results have the same bytes at any number of threads, and again" *
          doctest::skip(without_libllama)) {
  const Files files;
  for (const int batch : {1, 4}) {
    const Json config =
        config_of(gguf(files.target, {{"batch", batch}}), gguf(files.draft, {{"kept_rows", 0}}));
    const auto bytes = [&](int threads) {
      const ThreadLimit limit(threads);
      return bytes_of(run_of(config).result);
    };
    const std::string once = bytes(1);
    CHECK(bytes(2) == once);
    CHECK(bytes(1) == once);
  }
}

TEST_CASE("gguf kind: what does not fit is said before the run, with a remedy" *
          doctest::skip(without_libllama)) {
  const Files files;
  const std::string other = error_of_run(config_of(gguf(files.target), gguf(files.other)));
  CHECK(other.starts_with("/models/draft: has a vocabulary of 267 tokens; the target has 264"));
  CHECK(other.find("same tokenizer") != std::string::npos);
  CHECK(error_of(R"({"kind": "gguf", "file": "no/such.gguf"})").starts_with("/model/file: no/such.gguf"));
  if (!std::filesystem::exists(SPECLAB_SOURCE_DIR "/data/smollm2-135m.gguf"))
    CHECK(error_of(R"({"kind": "gguf", "file": "data/smollm2-135m.gguf"})").find("scripts/setup.sh neural") !=
          std::string::npos);
  CHECK(error_of(R"({"kind": "gguf"})").starts_with("/model/file: missing"));
  CHECK(error_of(gguf(files.target, {{"context", 1 << 20}}).dump()).find("/model/file") == std::string::npos);

  Json longer = config_of(gguf(files.target, {{"context", 12}}), gguf(files.draft));
  const std::string length = error_of_run(longer);
  CHECK(length.starts_with("/simulation/length"));
  CHECK(length.find("context of the target") != std::string::npos);
  longer["models"]["target"]["context"] = 90;
  CHECK(error_of_run(longer).empty());

  Json corpus = config_of(gguf(files.target), {{"kind", "bigram"}});
  corpus["corpus"] = {{"file", files.text.path().string()}, {"tokenization", "gguf"}};
  CHECK(error_of_run(corpus).starts_with("/corpus/tokenizer: missing"));
  corpus["corpus"] = {{"file", files.text.path().string()}, {"tokenizer", files.target.path().string()}};
  CHECK(error_of_run(corpus).starts_with("/corpus/tokenizer: goes with"));
}

TEST_CASE("gguf kind: what is recorded of a pair are its rows' probabilities" *
          doctest::skip(without_libllama)) {
  const Files files;
  ModelFactory factory;
  Json config = config_of(gguf(files.target), gguf(files.draft));
  config["simulation"]["trials"] = 2;
  const Setup setup = build_setup(read_config(config), factory);
  const RecordedTokens recorded = record_pair(setup, 20);
  const TinyLlama target(21, sharp(2));
  const TinyLlama draft(21, sharp(1));
  std::vector<Token> context = setup.simulation.prompt(1);
  for (std::size_t i = 20; i < 40; ++i) {
    const auto token = static_cast<std::size_t>(recorded.tokens[i]);
    CHECK(recorded.recording.target[i] ==
          doctest::Approx(std::log(target.row_after(context)[token])).epsilon(1e-4));
    CHECK(recorded.recording.draft[0][i] ==
          doctest::Approx(std::log(draft.row_after(context)[token])).epsilon(1e-4));
    context.push_back(recorded.tokens[i]);
  }
}

// Null: speculative text has the target's distribution. Level 1e-9 for each test.
TEST_CASE("gguf kind: speculative text has the target's distribution, and the test would see a fault" *
          doctest::skip(without_libllama)) {
  const Files files;
  Json config = config_of(gguf(files.target), gguf(files.draft));
  config["seed"] = test_seed(3);
  const CheckSection settings{.tokens = 2, .samples = 100000, .level = 1e-9};
  for (const char* rule : {"token", "block"}) {
    const EqualityResult result = tested(config, rule, settings);
    CHECK(result.reference == EqualityReference::exact_distribution);
    CHECK_FALSE(result.different);
    CHECK(result.detectable_total_variation < 0.05);
  }
  CHECK(tested(config, "fault-resample-target", settings).different);
}

TEST_CASE("gguf: n-grams are trained on text that the target generated, by its token ids" *
          doctest::skip(without_libllama)) {
  const Files files;
  Json config{{"title", "t"},
              {"models", {{"target", gguf(files.target)}, {"draft", {{"kind", "uniform"}}}}},
              {"simulation", {{"trials", 6}, {"length", 40}, {"prompt", "the"}}}};
  const TempFile text("");
  for (const RecordingStyle style : {RecordingStyle::csv, RecordingStyle::json_lines}) {
    ModelFactory factory;
    const RecordedTokens recorded = record_pair(build_setup(read_config(config), factory), 40);
    write_recording(recorded, text.path(), style, false);
    Json trained = config;
    trained["models"]["draft"] = {{"kind", "bigram"},
                                  {"corpus",
                                   {{"file", text.path().string()},
                                    {"tokenization", "ids"},
                                    {"tokenizer", files.target.path().string()}}}};
    const Setup setup = build_setup(read_config(trained), factory);
    const auto vocab = setup.target.vocab();
    CHECK(setup.draft.vocab() == vocab);
    // The expected model is trained on the ids directly, without files.
    const NgramModel expected = train_kneser_ney(recorded.tokens, vocab, 2);
    std::vector<double> row;
    std::vector<double> other;
    for (std::size_t i = 1; i < recorded.tokens.size(); i += 7) {
      const auto context = std::span(recorded.tokens).first(i);
      const Row seen = setup.draft.next(context, row);
      const Row wanted = expected.next(context, other);
      for (Token id = 0; id < vocab; ++id) CHECK(seen[id] == wanted[id]);
    }
    trained["models"]["draft"]["corpus"]["file"] = files.text.path().string();
    CHECK(says(config_error_of([&] { build_setup(read_config(trained), factory); }),
               "/models/draft/corpus/file: "));
  }
}

TEST_CASE("gguf: ids that the tokenizer does not have, and recordings without a tokenizer, are errors" *
          doctest::skip(without_libllama)) {
  const Files files;
  const TempFile text("sequence,position,token,logp,logq\n0,0,5,-1,-1\n0,1,999999,-1,-1\n");
  Json config{{"title", "t"}, {"models", {{"target", gguf(files.target)}, {"draft", {{"kind", "unigram"}}}}}};
  Json& corpus = config["models"]["draft"]["corpus"];
  corpus = {
      {"file", text.path().string()}, {"tokenization", "ids"}, {"tokenizer", files.target.path().string()}};
  const auto error = [&] { return config_error_of([&] { build_setup(read_config(config)); }); };
  CHECK(says(error(), "sequence 0 has the token 999999, outside the"));
  corpus.erase("tokenizer");
  CHECK(says(error(), "/models/draft/corpus/tokenizer: missing"));
}

TEST_CASE("gguf: a draft with another tokenizer, whose tokens are matched as they are written" *
          doctest::skip(without_libllama)) {
  // The other vocabulary has three additional special tokens at its end; all other tokens are written alike.
  const Files files;
  Json config{{"title", "t"},
              {"models",
               {{"target", gguf(files.target)},
                {"draft", gguf(files.other, {{"tokens_of", files.target.path().string()}})}}},
              {"simulation", {{"trials", 4}, {"length", 20}, {"prompt", "the other"}}}};
  ModelFactory factory;
  const Setup setup = build_setup(read_config(config), factory);
  const auto vocab = setup.target.vocab();
  REQUIRE(setup.draft.vocab() == vocab);
  const BuiltModel other = built(gguf(files.other).dump(), factory);
  const GgufTokenizer own(files.other.path());
  const GgufTokenizer seen(files.target.path());
  std::vector<double> row;
  std::vector<double> whole;
  for (const std::string text : {"the other one", "in a line", "there"}) {
    const Row mapped = setup.draft.next(seen.tokens(text), row);
    const Row direct = other.model.next(own.tokens(text), whole);
    double kept = 0;
    for (Token id = 0; id < vocab; ++id) kept += direct[id];
    CHECK(kept < 1);
    for (Token id = 0; id < vocab; ++id) CHECK(mapped[id] == doctest::Approx(direct[id] / kept));
    CHECK(total_probability(mapped) == doctest::Approx(1));
  }
  CHECK(run_of(config).result.cells.front().counts.rounds == 80);
  config["models"]["draft"]["chat"] = true;
  CHECK(says(config_error_of([&] { build_setup(read_config(config), factory); }), "/models/draft/chat: "));
}
