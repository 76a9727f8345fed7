#include "sim/models/gguf_model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "core/rules/token.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/error.hpp"
#include "sim/model_clock.hpp"
#include "sim/models/model.hpp"
#include "sim/models/runs_together.hpp"
#include "sim/parallel.hpp"
#include "sim/sequences.hpp"
#include "tests/sim/models/tiny_llama.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

static_assert(LanguageModel<GgufModel>);
static_assert(PreparedModel<GgufModel>);

const TinyLlama& tiny() {
  static const TinyLlama model(11);
  return model;
}

GgufModel loaded(const TinyLlama& model, const GgufOptions& options = {}) {
  const TempFile file(model.gguf());
  return {std::make_shared<const GgufTokenizer>(file.path()), options};
}

std::vector<double> row_of(const GgufModel& model, std::span<const Token> context) {
  std::vector<double> scratch;
  const Row row = model.next(context, scratch);
  return {row.probabilities, row.probabilities + row.size};
}

std::vector<Token> text_of(std::uint64_t seed, std::size_t length) {
  return random_tokens(seed, length, tiny().vocab());
}

double total_variation(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / 2;
}

/// Bound on the rounding of f32 in two blocks of 32 numbers: measured 1e-6.
constexpr double rounding = 2e-5;

const bool without = !has_libllama();

}  // namespace

TEST_CASE("gguf: without libllama the error says what to run" * doctest::skip(has_libllama())) {
  MESSAGE("libllama is not there: tests of neural models are skipped");
  const TempFile file(tiny().gguf());
  CHECK_THROWS_WITH_AS(GgufTokenizer(file.path()), doctest::Contains("scripts/setup.sh neural"), ModelError);
}

TEST_CASE("gguf: rows are those of an independent forward pass" * doctest::skip(without)) {
  for (const std::uint64_t seed : {11, 12}) {
    TinyLlamaSize size;
    size.blocks = seed == 11 ? 2 : 1;
    size.key_heads = seed == 11 ? 2 : 4;
    const TinyLlama model(seed, size);
    const GgufModel run = loaded(model);
    CHECK(run.vocab() == static_cast<std::int32_t>(model.vocab()));
    const std::vector<Token> text = text_of(seed, 40);
    for (const std::size_t length : {1, 2, 3, 7, 8, 31, 40}) {
      const auto context = std::span(text).first(length);
      CHECK(total_variation(row_of(run, context), model.row_after(context)) < rounding);
    }
    // Power: another model's rows are far away.
    CHECK(total_variation(row_of(run, text), TinyLlama(seed + 2, size).row_after(text)) > 0.05);
  }
}

TEST_CASE("gguf: an empty context stands for the beginning of a text" * doctest::skip(without)) {
  const std::vector<Token> end{static_cast<Token>(tiny().vocab()) - 1};
  CHECK(row_of(loaded(tiny()), {}) == row_of(loaded(tiny()), end));
}

TEST_CASE("gguf: after a rollback rows are those of a fresh cache, to the last bit" *
          doctest::skip(without)) {
  for (const std::int32_t batch : {1, 2, 5}) {
    const GgufOptions options{.batch = batch, .kept_rows = 0};
    const GgufModel model = loaded(tiny(), options);
    const std::vector<Token> text = text_of(1, 60);
    std::vector<Token> other = text;
    for (std::size_t i = 30; i < other.size(); ++i) other[i] = (other[i] + 1) % 200;
    for (const std::size_t length : {60, 45, 31, 30, 12, 50}) {
      for (const auto& whole : {text, other}) {
        const auto context = std::span(whole).first(length);
        CHECK(row_of(model, context) == row_of(loaded(tiny(), options), context));
      }
    }
  }
}

TEST_CASE("gguf: rows prepared together are those computed one by one" * doctest::skip(without)) {
  const std::vector<Token> text = text_of(2, 50);
  const GgufModel one_by_one = loaded(tiny());
  CHECK_FALSE(one_by_one.prepares());
  for (const std::int32_t batch : {0, 2, 6, 16}) {
    const GgufOptions options{.batch = batch, .kept_rows = 0};
    const GgufModel together = loaded(tiny(), options);
    const GgufModel alone = loaded(tiny(), options);
    CHECK(together.prepares());
    for (const auto& [first, length] : std::vector<std::pair<std::size_t, std::size_t>>{
             {0, 5}, {4, 9}, {7, 12}, {12, 12}, {30, 50}, {20, 22}}) {
      together.prepare(std::span(text).first(length), first);
      for (std::size_t at = first; at <= length; ++at) {
        const auto context = std::span(text).first(at);
        const std::vector<double> row = row_of(together, context);
        CHECK(total_variation(row, row_of(one_by_one, context)) < rounding);
        // A run of fixed shape gives the same bits wherever a token is in it.
        if (batch > 0) CHECK(row == row_of(alone, context));
      }
    }
  }
}

TEST_CASE("gguf: rows prepared together cost no further run" * doctest::skip(without)) {
  const GgufModel model = loaded(tiny(), {.batch = 0, .kept_rows = 0});
  const std::vector<Token> text = text_of(9, 60);
  std::vector<double> row;
  double prepared = 0;
  double asked = 0;
  for (std::size_t start = 50; start > 10; start -= 10) {
    model.next(std::span(text).first(start - 1), row);
    const auto begin = std::clock();
    model.prepare(std::span(text).first(start + 8), start);
    const auto between = std::clock();
    for (int again = 0; again < 3; ++again) {
      for (std::size_t i = 0; i <= 8; ++i) model.next(std::span(text).first(start + i), row);
    }
    prepared += static_cast<double>(between - begin);
    asked += static_cast<double>(std::clock() - between);
  }
  // 27 rows are known, while a run over 9 tokens computes 9; computing each in its own run would take longer
  // than that.
  CHECK(asked < 3 * prepared);
}

TEST_CASE("gguf: the clock times runs, not rows that are known" * doctest::skip(without)) {
  const Model model = loaded(tiny(), {.batch = 0, .kept_rows = 0});
  const std::vector<std::vector<Token>> text{text_of(8, 60)};
  const auto seconds = [&](const std::vector<std::size_t>& starts) {
    return measure_runs(model, model, text, starts, 8, ClockKind::processor).target.front();
  };
  // Runs that begin within the tokens of an earlier run take as long as others. A known row takes a tenth of
  // that.
  CHECK(seconds({20, 21, 22, 23, 24}) > 0.4 * seconds({10, 20, 30, 40, 50}));
}

TEST_CASE("gguf: rows that are kept, and rows of several threads, are the same" * doctest::skip(without)) {
  const GgufModel keeps = loaded(tiny());
  const GgufModel forgets = loaded(tiny(), {.kept_rows = 0});
  const GgufModel few = loaded(tiny(), {.kept_rows = 3 * sizeof(float) * tiny().vocab()});
  std::vector<std::vector<Token>> contexts;
  for (std::uint64_t i = 0; i < 40; ++i) contexts.push_back(text_of(i % 9, 5 + i % 4 * 7));
  std::vector<std::vector<double>> rows(contexts.size());
  for_each_index(contexts.size(), [&](std::size_t i) { rows[i] = row_of(keeps, contexts[i]); });
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    CHECK(rows[i] == row_of(forgets, contexts[i]));
    CHECK(rows[i] == row_of(few, contexts[i]));
  }
}

TEST_CASE("gguf: a temperature of logits is that of probabilities" * doctest::skip(without)) {
  const std::vector<Token> text = text_of(3, 20);
  const Model model = loaded(tiny());
  for (const Adjustment how : {Adjustment{.temperature = 0.5}, Adjustment{.temperature = 2, .top_k = 7},
                               Adjustment{.temperature = 0.7, .top_p = 0.8}, Adjustment{.temperature = 0}}) {
    std::vector<double> row = row_of(loaded(tiny()), text);
    std::vector<Token> order;
    adjust(row, how, order);
    std::vector<double> scratch;
    const Row seen = adjusted(model, how).next(text, scratch);
    CHECK(total_variation(row, {seen.probabilities, seen.probabilities + seen.size}) < 1e-6);
  }
}

TEST_CASE("gguf: texts decoded together have the rows that each has alone" * doctest::skip(without)) {
  const GgufModel together = loaded(tiny(), {.batch = 0, .kept_rows = 0});
  const GgufModel alone = loaded(tiny());
  constexpr std::size_t texts = 5;
  std::vector<std::vector<Token>> contexts;
  for (std::uint64_t i = 0; i < texts; ++i) contexts.push_back(text_of(20 + i, 40));
  // The runs have rollbacks, several rows, and numbers of new tokens that differ from text to text.
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<std::pair<std::span<const Token>, std::vector<double>>> rows;
    decode_together(texts, [&](std::size_t text) {
      for (std::size_t length = 6 + text; length + 4 < 40; length += 1 + (text + length) % 3) {
        together.prepare(std::span(contexts[text]).first(length + 3), length);
        for (std::size_t at = length; at <= length + 3; at += 3) {
          const auto context = std::span<const Token>(contexts[text]).first(at);
          rows.emplace_back(context, row_of(together, context));
        }
      }
    });
    CHECK(rows.size() > texts * 10);
    for (const auto& [context, row] : rows) {
      CHECK(total_variation(row, row_of(alone, context)) < rounding);
    }
  }
  CHECK(together_place().texts == 0);
}

TEST_CASE("gguf: decoding together makes the runs of all texts in one, and ends with what one throws" *
          doctest::skip(without)) {
  struct Counted final : RunsTogether {
    std::vector<std::size_t> runs;
    void run_together(std::span<const TextRun> wanted, std::size_t texts) override {
      CHECK(texts == 3);
      runs.push_back(wanted.size());
    }
  } counted;
  const std::vector<Token> tokens{1};
  decode_together(3, [&](std::size_t text) {
    for (std::size_t i = 0; i <= text; ++i) wait_for_run(counted, tokens, 1);
  });
  // The texts have 1, 2 and 3 runs.
  CHECK(counted.runs == std::vector<std::size_t>{3, 2, 1});
  std::size_t ended = 0;
  struct Ends {
    std::size_t& count;
    ~Ends() { ++count; }
  };
  CHECK_THROWS_WITH_AS(decode_together(3,
                                       [&](std::size_t text) {
                                         const Ends ends{ended};
                                         wait_for_run(counted, tokens, 1);
                                         if (text == 1) throw ModelError("one of three");
                                         wait_for_run(counted, tokens, 1);
                                       }),
                       "one of three", ModelError);
  CHECK(ended == 3);
}

TEST_CASE("gguf: greedy speculative text is greedy plain text" * doctest::skip(without)) {
  TinyLlamaSize small;
  small.blocks = 1;
  const Model draft = adjusted(loaded(TinyLlama(7, small)), {.temperature = 0});
  SimulationSize simulation;
  simulation.trials = 6;
  simulation.prompts = {text_of(4, 9), text_of(5, 20)};
  constexpr std::size_t length = 60;
  for (const std::int32_t batch : {1, 4, 8}) {
    const Model target = adjusted(loaded(tiny(), {.batch = batch}), {.temperature = 0});
    const AnyRule rule = TokenRule{};
    const auto plain = plain_sequences(target, rule, simulation, length);
    for (const int gamma : {1, 3, 5}) {
      CHECK(speculative_sequences(target, draft, rule, gamma, simulation, length) == plain);
      // A draft that equals the target is always accepted, and must not change the text either.
      CHECK(speculative_sequences(target, target, rule, gamma, simulation, length) == plain);
    }
  }
}

TEST_CASE("gguf: a text that outgrows the context is an error with a remedy" * doctest::skip(without)) {
  const GgufModel model = loaded(tiny(), {.context = 16});
  CHECK(model.max_context() == 16);
  CHECK(loaded(tiny()).max_context() == tiny().size().context);
  CHECK_NOTHROW(row_of(model, text_of(6, 16)));
  CHECK_THROWS_WITH_AS(row_of(model, text_of(6, 17)), doctest::Contains("give a larger \"context\""),
                       ModelError);
  // These are the last tokens of a full context, in runs of a fixed shape.
  const GgufModel filled = loaded(tiny(), {.context = 16, .batch = 7});
  CHECK(row_of(filled, text_of(6, 16)) == row_of(loaded(tiny(), {.batch = 7}), text_of(6, 16)));
}

TEST_CASE("gguf: files that are not there, or not that, are errors that name them" * doctest::skip(without)) {
  CHECK_THROWS_WITH_AS(GgufTokenizer("no/such.gguf"), doctest::Contains("no/such.gguf: cannot be read"),
                       ModelError);
  CHECK_THROWS_AS(GgufTokenizer(std::filesystem::temp_directory_path()), ModelError);
  const TempFile text("It is a truth universally acknowledged");
  CHECK_THROWS_WITH_AS(GgufTokenizer(text.path()), doctest::Contains("is not a GGUF file"), ModelError);
  const std::string whole = tiny().gguf();
  for (const std::size_t kept : {std::size_t{4}, std::size_t{40}, whole.size() / 8, whole.size() / 2}) {
    const TempFile cut(whole.substr(0, kept));
    CHECK_THROWS_WITH_AS(GgufModel(std::make_shared<const GgufTokenizer>(cut.path()), GgufOptions{}),
                         doctest::Contains(cut.path().string().c_str()), ModelError);
  }
}

TEST_CASE("gguf: what a cache takes is told before loading" * doctest::skip(without)) {
  const TempFile file(tiny().gguf());
  const GgufTokenizer tokenizer(file.path());
  CHECK(tokenizer.facts().architecture == "llama");
  CHECK(tokenizer.facts().trained_context == 96);
  // Keys and values of 2 heads of 8 numbers in 2 blocks take 4 bytes each.
  CHECK(tokenizer.facts().cache_bytes == 2 * 2 * 8 * 2 * 4);
  CHECK(GgufModel::cache_bytes(tokenizer.facts(), {.context = 10, .batch = 2}) == 12 * 256);
}
