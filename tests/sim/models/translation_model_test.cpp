#include "sim/models/translation_model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/error.hpp"
#include "sim/models/kneser_ney.hpp"
#include "sim/models/model.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

static_assert(LanguageModel<TranslationModel>);

constexpr std::int32_t words = 8;
constexpr std::int32_t vocab = 2 * words + 1;
constexpr Token separator = 2 * words;

/// Makes documents with source words 0..7; each translates to the word 8 above it, in the opposite order.
std::vector<std::vector<Token>> made_up(std::uint64_t seed, std::size_t count) {
  std::vector<std::vector<Token>> documents;
  Philox stream = world(seed);
  while (documents.size() < count) {
    std::vector<Token> document = random_tokens(stream(), 1 + stream() % 6, words);
    const std::vector<Token> source(document.rbegin(), document.rend());
    document.push_back(separator);
    for (const Token token : source) document.push_back(token + words);
    documents.push_back(std::move(document));
  }
  return documents;
}

std::vector<SentencePair> pairs_of(const std::vector<std::vector<Token>>& documents) {
  std::vector<SentencePair> pairs;
  for (const auto& document : documents) {
    const auto middle = std::find(document.begin(), document.end(), separator);
    pairs.push_back({{document.begin(), middle}, {middle + 1, document.end()}});
    pairs.back().target.push_back(separator);
  }
  return pairs;
}

/// Returns the mean surprise over the targets and their final separators, in nats per token.
template <class M>
double surprise(const M& model, std::vector<std::vector<Token>> documents) {
  double total = 0;
  int count = 0;
  std::vector<double> scratch;
  for (std::vector<Token>& document : documents) {
    const std::size_t begin = position_after(document, separator);
    document.push_back(separator);
    for (std::size_t t = begin; t < document.size(); ++t, ++count)
      total -= std::log(model.next(std::span(document).first(t), scratch)[document[t]]);
  }
  return total / count;
}

}  // namespace

TEST_CASE("translation: rows are the formula's, sum to 1 and have full support") {
  const auto documents = made_up(1, 60);
  const TranslationOptions options{.lift = 0.7, .smoothing = 0.2, .coverage = 1.5};
  const auto model = train_translation(documents, separator, vocab, 3, options);
  const auto language = train_target_language(documents, separator, vocab, 3);
  const auto unigram = train_target_language(documents, separator, vocab, 1);
  const Lexicon lexicon = fit_lexicon(pairs_of(documents), vocab, 5, 1e-3).lexicon;

  std::vector<double> scratch;
  std::vector<double> plain_room;
  for (const std::vector<Token>& context :
       std::vector<std::vector<Token>>{{separator},
                                       {1, separator},
                                       {1, 2, 3, separator},
                                       {3, 1, separator, 9},
                                       {3, 1, 1, separator, 9, 9, 11},
                                       {0, separator, 8, separator},
                                       {0, 4, separator, 8, separator, 12},
                                       {separator, separator, 3}}) {
    const auto at =
        static_cast<std::size_t>(std::find(context.begin(), context.end(), separator) - context.begin());
    std::vector<Token> source(context.begin(), context.begin() + static_cast<std::ptrdiff_t>(at));
    std::vector<Token> target;
    for (std::size_t i = at; i < context.size(); ++i) {
      target.push_back(context[i]);
      if (context[i] == separator) target.clear();
    }
    source.push_back(lexicon.null());
    std::vector<double> weights(source.size(), 1.0);
    double weight = 1;
    for (std::size_t i = 0; i + 1 < source.size(); ++i) {
      double covered = 0;
      for (const Token g : target) {
        double all = 0;
        for (const Token s : source) all += lexicon.probability(s, g);
        if (all > 0) covered += lexicon.probability(source[i], g) / all;
      }
      weights[i] = 1 / (1 + options.coverage * covered);
      weight += weights[i];
    }
    const Row plain = language->next(std::span(context).subspan(at), plain_room);
    std::vector<double> expected;
    double total = 0;
    for (Token id = 0; id < vocab; ++id) {
      double lexical = 0;
      for (std::size_t i = 0; i < source.size(); ++i)
        lexical += weights[i] / weight * lexicon.probability(source[i], id);
      const double lift = options.smoothing + (1 - options.smoothing) * lexical /
                                                  unigram->unigrams()[static_cast<std::size_t>(id)];
      total += expected.emplace_back(plain[id] * std::pow(lift, options.lift));
    }
    const Row row = model->next(context, scratch);
    CHECK(total_probability(row) == doctest::Approx(1).epsilon(1e-13));
    for (Token id = 0; id < vocab; ++id) {
      CHECK(row[id] > 0);
      CHECK(row[id] == doctest::Approx(expected[static_cast<std::size_t>(id)] / total).epsilon(1e-12));
    }
  }
}

TEST_CASE("translation: before the separator, and without lift, it is the n-gram of the target language") {
  const auto documents = made_up(2, 60);
  const auto model = train_translation(documents, separator, vocab, 3);
  const TranslationModel unlifted = model->with({.lift = 0});
  const auto language = train_target_language(documents, separator, vocab, 3);
  const auto same = [](const Row& a, const Row& b) {
    return std::equal(a.probabilities, a.probabilities + a.size, b.probabilities);
  };
  std::vector<double> scratch_a;
  std::vector<double> scratch_b;
  const std::vector<Token> document{1, 2, 3, separator, 9, 10};
  CHECK(same(model->next(std::span(document).first(3), scratch_a),
             language->next(std::span(document).first(3), scratch_b)));
  CHECK(same(model->next({}, scratch_a), language->next({}, scratch_b)));
  for (const std::size_t length : {4, 5, 6}) {
    const auto context = std::span(document).first(length);
    CHECK(same(unlifted.next(context, scratch_a), language->next(context.subspan(3), scratch_b)));
    CHECK_FALSE(same(model->next(context, scratch_a), language->next(context.subspan(3), scratch_b)));
  }
}

TEST_CASE(
    "translation: having read the source, it is less surprised by what it has not seen; coverage helps") {
  const auto train = made_up(3, 400);
  const auto held_out = made_up(4, 100);
  const auto model = train_translation(train, separator, vocab, 3);
  const double alone = surprise(model->with({.lift = 0}), held_out);
  const double lifted = surprise(model->with({.coverage = 0}), held_out);
  const double covered = surprise(*model, held_out);
  CHECK(lifted < alone - 0.3);
  CHECK(covered < lifted);
  // The source is the cause of the improvement: another document's source does not help.
  std::vector<std::vector<Token>> shuffled = held_out;
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    const auto& other = held_out[(i + 1) % held_out.size()];
    shuffled[i].erase(
        shuffled[i].begin(),
        shuffled[i].begin() + static_cast<std::ptrdiff_t>(position_after(shuffled[i], separator)) - 1);
    shuffled[i].insert(shuffled[i].begin(), other.begin(),
                       other.begin() + static_cast<std::ptrdiff_t>(position_after(other, separator)) - 1);
  }
  CHECK(surprise(*model, shuffled) > covered + 0.3);
}

TEST_CASE("translation: a document without a separator is an error") {
  std::vector<std::vector<Token>> documents = made_up(5, 3);
  documents[1] = {0, 1};
  CHECK_THROWS_WITH_AS(train_translation(documents, separator, vocab, 2), doctest::Contains("document 1"),
                       ModelError);
}

TEST_CASE("translation: as a model of any kind") {
  const auto translation = train_translation(made_up(6, 30), separator, vocab, 2);
  const Model model(translation);
  CHECK(model.vocab() == vocab);
  CHECK_FALSE(model.memory());
  CHECK(model.ngram() == nullptr);
}
