#include "sim/models/ngram_model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <vector>

#include "core/round/round.hpp"
#include "sim/error.hpp"
#include "sim/models/kneser_ney.hpp"
#include "sim/models/model.hpp"
#include "tests/sim/models/row_error.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(LanguageModel<NgramModel>);

namespace {

using Ngram = std::vector<Token>;

/// The format's definition, literally, over maps.
struct BackoffTable {
  std::map<Ngram, double> probability;
  std::map<Ngram, double> backoff;

  double at(Ngram context, Token token) const {
    Ngram ngram = context;
    ngram.push_back(token);
    if (const auto listed = probability.find(ngram); listed != probability.end()) return listed->second;
    const auto weight = backoff.find(context);
    context.erase(context.begin());
    return (weight == backoff.end() ? 1.0 : weight->second) * at(context, token);
  }
};

/// Returns a random list: neither normalised nor closed under prefixes or suffixes, as files from elsewhere
/// may be.
NgramList random_list(std::uint64_t seed, std::int32_t vocab, int order, BackoffTable& table) {
  Philox stream = world(seed);
  const NgramPacking packing(vocab);
  NgramList list{vocab, std::vector<std::vector<ListedNgram>>(static_cast<std::size_t>(order))};
  for (int n = 1; n <= order; ++n) {
    for (const Ngram& ngram : all_contexts(vocab, n)) {
      if (n > 1 && stream() % 3 != 0) continue;
      ListedNgram line{packing.pack(ngram), open_unit(stream()), 1};
      table.probability[ngram] = line.probability;
      if (n < order && stream() % 2 == 0) table.backoff[ngram] = line.backoff = 2 * open_unit(stream());
      list.levels[static_cast<std::size_t>(n - 1)].push_back(line);
    }
  }
  return list;
}

/// Calls visit(context) for every context of 0..longest tokens.
template <class Visit>
void for_each_context(std::int32_t vocab, int longest, const Visit& visit) {
  for (int length = 0; length <= longest; ++length) {
    for (const Ngram& context : all_contexts(vocab, length)) visit(context);
  }
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-14 * std::abs(b); }

}  // namespace

TEST_CASE("packed n-grams: prefix, suffix and tokens, at the widest vocabulary") {
  const NgramPacking packing(max_ngram_vocab);
  const Ngram tokens{max_ngram_vocab - 1, 0, 5, max_ngram_vocab - 2, max_ngram_vocab - 1};
  const PackedNgram key = packing.pack(tokens);
  const auto unpacked = packing.unpack(key, 5);
  CHECK(Ngram(unpacked.begin(), unpacked.end()) == tokens);
  CHECK(packing.context(key) == packing.pack(std::span(tokens).first(4)));
  CHECK(packing.suffix(key, 4) == packing.pack(std::span(tokens).last(4)));
  CHECK(packing.last(key) == max_ngram_vocab - 1);
}

TEST_CASE("rows by hand: listed n-grams as they are, the rest through back-off weights") {
  // Unigrams are 0.5 0.25 0.25. After 0, token 1 has 0.9 and the rest back off with 0.4. After (2 0), token 2
  // has 0.7 and the rest back off with 0.5. Context (1 0) is not listed: its weight is 1.
  const NgramPacking packing(3);
  const auto key = [&](const Ngram& ngram) { return packing.pack(ngram); };
  const NgramModel model(NgramList{3,
                                   {{{key({0}), 0.5, 0.4}, {key({1}), 0.25}, {key({2}), 0.25}},
                                    {{key({0, 1}), 0.9}, {key({2, 0}), 0.5, 0.5}},
                                    {{key({2, 0, 2}), 0.7}}}});
  std::vector<double> scratch;
  const auto row = [&](const Ngram& context) {
    const Row view = model.next(context, scratch);
    return std::vector<double>(view.probabilities, view.probabilities + view.size);
  };
  CHECK(row({}) == std::vector<double>{0.5, 0.25, 0.25});
  CHECK(row({1}) == std::vector<double>{0.5, 0.25, 0.25});
  CHECK(row({0}) == std::vector<double>{0.4 * 0.5, 0.9, 0.4 * 0.25});
  CHECK(row({1, 0}) == row({0}));
  CHECK(row({2, 0}) == std::vector<double>{0.5 * 0.4 * 0.5, 0.5 * 0.9, 0.7});
  CHECK(row({1, 1, 2, 0}) == row({2, 0}));
  CHECK(model.order() == 3);
  CHECK(model.contexts(1) == 2);  // 0, and 2 as the start of (2 0)
  CHECK(model.contexts(2) == 1);
  // The row after (2 0) sums to 0.1 + 0.45 + 0.7 = 1.25, and no row is further from 1.
  CHECK(max_row_error(model, 10) == doctest::Approx(0.25));
}

TEST_CASE("without a known context the row is the stored one: nothing is copied") {
  BackoffTable table;
  const NgramModel unigrams(random_list(1, 4, 1, table));
  std::vector<double> scratch;
  const Row first = unigrams.next(Ngram{0, 1}, scratch);
  CHECK(first.probabilities == unigrams.next(Ngram{3}, scratch).probabilities);
  CHECK(scratch.empty());
}

TEST_CASE("both look-ups agree with the definition in every context of random lists") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (int order = 1; order <= max_ngram_order; ++order) {
      BackoffTable table;
      const NgramModel model(random_list(seed, 4, order, table));
      std::vector<double> scratch;
      int wrong = 0;
      for_each_context(4, order - 1, [&](const Ngram& context) {
        const Row row = model.next(context, scratch);
        for (Token token = 0; token < 4; ++token) {
          const double expected = table.at(context, token);
          wrong += close(row[token], expected) && close(model.probability(context, token), expected) ? 0 : 1;
        }
      });
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("renormalised rows are the listed ones divided by their sums") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    BackoffTable table;
    const NgramList list = random_list(seed, 4, 4, table);
    const NgramModel listed(list);
    const NgramModel renormalised(list, RowSums::renormalised);
    std::vector<double> listed_scratch;
    std::vector<double> scratch;
    int wrong = 0;
    for_each_context(4, 3, [&](const Ngram& context) {
      const Row before = listed.next(context, listed_scratch);
      const Row after = renormalised.next(context, scratch);
      const double total = total_probability(before);
      for (Token token = 0; token < 4; ++token) {
        // The total comes from a recursion with differences: it has a few more roundings than `close` allows.
        wrong += std::abs(after[token] - before[token] / total) < 1e-12 &&
                         close(renormalised.probability(context, token), after[token])
                     ? 0
                     : 1;
      }
    });
    CHECK(wrong == 0);
    CHECK(max_row_error(listed, 1000) > 0.1);
    CHECK(max_row_error(renormalised, 1000) < 1e-12);
  }
}

TEST_CASE("at a temperature, rows are the dense ones to that power") {
  int made = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    BackoffTable table;
    // Random lists have rows listed far below their back-off; trained ones have none.
    const NgramModel model = seed < 4 ? NgramModel(random_list(seed, 4, 4, table),
                                                   seed % 2 == 0 ? RowSums::as_listed : RowSums::renormalised)
                                      : train_kneser_ney(random_tokens(seed, 300, 4), 4, 4);
    for (const double temperature : {0.1, 0.3, 0.7, 1.5, 100.0}) {
      const Adjustment how{.temperature = temperature};
      const std::optional<NgramModel> heated = model.adjusted(how);
      ++(heated ? made : refused);
      if (!heated) continue;
      CHECK(max_row_error(*heated, 1000) < 1e-11);
      CHECK(heated->order() == model.order());
      double worst = 0;
      std::vector<double> scratch;
      std::vector<double> other;
      std::vector<Token> order;
      for_each_context(4, 3, [&](const Ngram& context) {
        const Row row = model.next(context, scratch);
        std::vector<double> expected(row.probabilities, row.probabilities + row.size);
        adjust(expected, how, order);
        const Row found = heated->next(context, other);
        for (Token token = 0; token < 4; ++token) {
          const double wanted = expected[static_cast<std::size_t>(token)];
          worst = std::max(worst, std::abs(found[token] / wanted - 1));
        }
      });
      CHECK(worst < 1e-11);
    }
  }
  CHECK(made >= 30);
  CHECK(made + refused == 40);
}

TEST_CASE("only temperatures above the least, without other options, keep a model's form") {
  const NgramModel model = train_kneser_ney(random_tokens(1, 300, 4), 4, 3);
  CHECK(!model.adjusted({.temperature = 0}));
  CHECK(!model.adjusted({.temperature = 0.09}));
  CHECK(!model.adjusted({.temperature = 0.5, .top_k = 2}));
  CHECK(!model.adjusted({.temperature = 0.5, .top_k = 0, .top_p = 0.9}));
  // After 1, token 0 is listed far below its back-off probability, and nothing else is left.
  const NgramModel low(
      NgramList{2, {{{0, 1 - 1e-9}, {1, 1e-9}}, {{NgramPacking(2).pack(Ngram{1, 0}), 1e-3}}}});
  CHECK(low.adjusted({.temperature = 0.9}));
  CHECK(!low.adjusted({.temperature = 0.5}));
  // As a Model it falls back to the rows themselves.
  const Model rows = adjusted(Model(low), {.temperature = 0.5});
  CHECK(rows.ngram() == nullptr);
  CHECK(adjusted(Model(low), {.temperature = 0.9}).ngram() != nullptr);
}

TEST_CASE("a row that sums to 0 cannot be renormalised") {
  const NgramList empty_unigrams{2, {{{0, 0.0}, {1, 0.0}}}};
  CHECK_THROWS_AS(NgramModel(empty_unigrams, RowSums::renormalised), ModelError);
  const NgramList blocked{2, {{{0, 0.5}, {1, 0.5, 0.0}}, {}}};  // back-off weight 0 and no followers
  CHECK_THROWS_WITH_AS(NgramModel(blocked, RowSums::renormalised), doctest::Contains("ids 1"), ModelError);
}

TEST_CASE("a model lists what it was made from") {
  BackoffTable table;
  const NgramList list = random_list(9, 4, 4, table);
  const NgramList again = NgramModel(list).listed();
  REQUIRE(again.levels.size() == list.levels.size());
  for (std::size_t n = 0; n < list.levels.size(); ++n) {
    REQUIRE(again.levels[n].size() == list.levels[n].size());
    for (std::size_t i = 0; i < list.levels[n].size(); ++i) {
      CHECK(again.levels[n][i].key == list.levels[n][i].key);
      CHECK(again.levels[n][i].probability == list.levels[n][i].probability);
      CHECK(again.levels[n][i].backoff == list.levels[n][i].backoff);
    }
  }
}

TEST_CASE("memory stays within what is documented a context and an n-gram") {
  for (int order = 1; order <= max_ngram_order; ++order) {
    BackoffTable table;
    const NgramList random = random_list(3, 5, order, table);
    const NgramList trained = train_kneser_ney(random_tokens(5, 3000, 400), 400, order).listed();
    for (const NgramList& list : {random, trained}) {
      for (const RowSums sums : {RowSums::as_listed, RowSums::renormalised}) {
        const NgramModel model(list, sums);
        std::size_t contexts = 0;
        std::size_t ngrams = 0;
        for (int length = 1; length < order; ++length) {
          contexts += model.contexts(length);
          ngrams += list.levels[static_cast<std::size_t>(length)].size();
          CHECK(model.followers(length) == list.levels[static_cast<std::size_t>(length)].size());
        }
        const std::size_t a_context = sums == RowSums::renormalised ? 48 : 40;
        const std::size_t least = 8 * list.levels[0].size() + a_context * contexts + 12 * ngrams;
        CHECK(model.bytes() >= least);
        CHECK(model.bytes() < least + 8 * contexts + 1024);
      }
    }
  }
}

TEST_CASE("a trained model holds no more than the same one made from its list") {
  const NgramModel trained = train_kneser_ney(random_tokens(6, 3000, 400), 400, 4);
  CHECK(trained.bytes() == NgramModel(trained.listed()).bytes());
  for (int length = 1; length < trained.order(); ++length) {
    std::size_t followers = 0;
    for (std::size_t at = 0; at < trained.contexts(length); ++at)
      followers += trained.known(length, at).tokens.size();
    CHECK(trained.followers(length) == followers);
  }
}
