#include "sim/models/model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "sim/models/kneser_ney.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

static_assert(LanguageModel<Model>);

constexpr std::int32_t model_vocab = 5;

TableModel markov(std::uint64_t seed) {
  return {model_vocab, 1, dirichlet_rows(model_vocab, model_vocab, 0.5, seed)};
}

/// Checks equal rows in every context of up to two tokens, up to rounding: stored rows are normalised once
/// more.
void check_same(const Model& a, const Model& b) {
  std::vector<double> scratch_a;
  std::vector<double> scratch_b;
  CHECK(a.vocab() == b.vocab());
  for (const int length : {0, 1, 2}) {
    for (const auto& context : all_contexts(model_vocab, length)) {
      const Row left = a.next(context, scratch_a);
      const Row right = b.next(context, scratch_b);
      for (Token id = 0; id < model_vocab; ++id) CHECK(left[id] == doctest::Approx(right[id]).epsilon(1e-14));
    }
  }
}

/// A model of a type unknown to Model: its rows depend on whether the context's length is even.
struct Parity {
  static std::int32_t vocab() { return model_vocab; }
  static Row next(std::span<const Token> context, std::vector<double>& scratch) {
    scratch.assign(model_vocab, 0.0);
    scratch[context.size() % 2] = 1;
    return {scratch.data(), model_vocab};
  }
};
/// The same model, which reports how far back it reads.
struct Bounded : Parity {
  static std::optional<int> memory() { return 7; }
};

Model unstored(const Model& base, const Adjustment& how) { return AdjustedModel{base, how}; }

}  // namespace

TEST_CASE("a mixture on the fly equals the stored one, also nested and at both ends") {
  const Model base(markov(1));
  const Model other(markov(2));
  for (const double epsilon : {0.0, 0.3, 1.0}) {
    const Model stored = mixed(base, other, epsilon);
    const Model on_the_fly = MixtureModel{base, other, epsilon};
    CHECK(stored.table() != nullptr);
    CHECK(on_the_fly.table() == nullptr);
    check_same(stored, on_the_fly);
    check_same(mixed(stored, other, 0.5), mixed(on_the_fly, other, 0.5));
    check_same(mixed(other, stored, 0.5), mixed(other, on_the_fly, 0.5));
  }
}

TEST_CASE("sampling options on the fly equal those applied to stored rows") {
  const Model base(markov(3));
  for (const Adjustment how :
       {Adjustment{.temperature = 0}, Adjustment{.temperature = 0.5}, Adjustment{.top_k = 2},
        Adjustment{.top_p = 0.6}, Adjustment{.temperature = 1.5, .top_k = 3, .top_p = 0.9},
        Adjustment{.top_k = model_vocab}}) {
    const Model stored = adjusted(base, how);
    CHECK(stored.table() != nullptr);
    check_same(stored, unstored(base, how));
  }
}

TEST_CASE("sampling options on a mixture on the fly: base rows are not disturbed") {
  const Model base(markov(4));
  const Model other(markov(5));
  const Adjustment how{.temperature = 0.5, .top_k = 3};
  const Model layered = unstored(MixtureModel{base, other, 0.4}, how);
  const Model stored = adjusted(mixed(base, other, 0.4), how);
  check_same(layered, stored);
  check_same(layered, stored);
}

TEST_CASE("what is not stored is adjusted and mixed on the fly") {
  const Model ngram(std::make_shared<const NgramModel>(
      train_kneser_ney(random_tokens(1, 500, model_vocab), model_vocab, 2)));
  const Model cool = adjusted(ngram, {.temperature = 0});
  CHECK(cool.table() == nullptr);
  std::vector<double> scratch;
  const Row row = cool.next({}, scratch);
  double total = 0;
  for (Token id = 0; id < model_vocab; ++id) total += row[id];
  CHECK(total == 1);
  const Model blend = mixed(ngram, Model(markov(6)), 0.25);
  CHECK(blend.table() == nullptr);
  CHECK(blend.vocab() == model_vocab);
  check_same(mixed(ngram, Model(markov(6)), 0), ngram);
  CHECK(adjusted(Model(markov(6)), {}).table() != nullptr);
}

TEST_CASE("only a stored table of order 0 is context-free") {
  const Model iid(TableModel(2, 0, {0.5, 0.5}));
  CHECK(iid.context_free());
  CHECK_FALSE(Model(markov(1)).context_free());
  CHECK_FALSE(Model(Parity{}).context_free());
  CHECK(adjusted(iid, {.temperature = 0.5}).context_free());
}

TEST_CASE("memory is the number of context tokens that rows depend on") {
  const Model free(TableModel(model_vocab, 0, uniform_row(model_vocab)));
  const Model chain(markov(1));
  const std::vector<Token> text{0, 1, 2, 3, 4, 0, 2, 4, 1, 3};
  const Model trigram(std::make_shared<const NgramModel>(train_kneser_ney(text, model_vocab, 3)));
  const Model parity(Parity{});
  CHECK(free.memory() == 0);
  CHECK(chain.memory() == 1);
  CHECK(trigram.memory() == 2);
  CHECK_FALSE(parity.memory());
  CHECK(mixed(free, trigram, 0.5).memory() == 2);
  CHECK(mixed(trigram, free, 0.5).memory() == 2);
  CHECK_FALSE(mixed(chain, parity, 0.5).memory());
  CHECK(adjusted(trigram, {.top_k = 2}).memory() == 2);
  CHECK_FALSE(adjusted(parity, {.temperature = 0.5}).memory());
}

TEST_CASE("any type that satisfies LanguageModel is a model, and copies share it") {
  const Model parity = Parity{};
  std::vector<double> scratch;
  CHECK(parity.next(std::vector<Token>{3, 3, 3}, scratch)[1] == 1);
  CHECK(parity.table() == nullptr);
  CHECK(parity.ngram() == nullptr);
  CHECK_FALSE(parity.memory());
  CHECK(Model(Bounded{}).memory() == 7);
  const Model again =
      Model(parity);  // NOLINT(performance-unnecessary-copy-initialization): the copy is tested
  CHECK(again.next({}, scratch)[0] == 1);
  const Model table(markov(1));
  const Model copy = table;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(copy.table() == table.table());
  const Model shared(std::make_shared<const TableModel>(markov(1)));
  REQUIRE(shared.table() != nullptr);
  check_same(shared, table);
}
