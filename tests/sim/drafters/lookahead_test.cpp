#include "sim/drafters/lookahead.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "sim/models/table_model.hpp"
#include "tests/sim/drafters/drafted_chain.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(RowDrafter<LookaheadDrafter<TableModel>>);

namespace {

using Tokens = std::vector<Token>;
using Drafter = LookaheadDrafter<TableModel>;

/// Returns a model of the given order whose rows have no ties.
TableModel random_model(std::uint64_t seed, std::int32_t vocab, std::int32_t order) {
  Philox stream = world(seed);
  std::vector<double> probability(static_cast<std::size_t>(std::pow(vocab, order + 1)));
  for (double& one : probability) one = open_unit(stream());
  return {vocab, order, std::move(probability)};
}

Token greedy(const TableModel& model, const Tokens& context) {
  std::vector<double> scratch;
  return argmax(model.next(context, scratch));
}

Tokens greedily(const TableModel& model, Tokens context, std::size_t count) {
  Tokens tokens;
  while (tokens.size() < count) {
    tokens.push_back(greedy(model, context));
    context.push_back(tokens.back());
  }
  return tokens;
}

/// Lookahead by absolute places: a trajectory starts at a token number and has N - 1 guesses.
class PlainLookahead {
 public:
  PlainLookahead(const TableModel& model, const LookaheadOptions& options)
      : model_(model), options_(options) {}

  void read(const Tokens& settled) {
    const std::size_t last = settled.size() - 1;
    trajectories_.erase(trajectories_.begin(), trajectories_.lower_bound(last));
    for (std::int32_t column = 0; column < options_.window; ++column) {
      const std::size_t start = last + static_cast<std::size_t>(column);
      if (trajectories_.contains(start)) continue;
      const auto guesses = static_cast<std::size_t>(options_.ngram - 1);
      const std::size_t last_place = settled.size() > guesses ? settled.size() - guesses : 0;
      const Draw draw{Use::world, 0, static_cast<std::uint32_t>(column)};
      const std::uint64_t place = Philox(options_.seed, Site{0, steps_, draw})() % (last_place + 1);
      for (std::size_t i = 0; i < guesses; ++i) {
        trajectories_[start].push_back(settled[(place + i) % settled.size()]);
      }
    }
    const bool spliced = options_.ngram > 2 && trajectories_[last].front() != settled.back();
    trajectories_[last].front() = settled.back();

    std::map<std::size_t, Tokens> next;
    std::vector<Tokens> ngrams;
    Tokens context(settled.begin(), settled.end() - 1);
    for (const auto& [start, tokens] : trajectories_) {
      Tokens ngram = tokens;
      Tokens seen = context;
      seen.insert(seen.end(), tokens.begin(), tokens.end());
      ngram.push_back(greedy(model_, seen));
      ngrams.push_back(ngram);
      next[start + 1] = Tokens(ngram.begin() + 1, ngram.end());
      context.push_back(tokens.front());
    }
    if (spliced) ngrams.erase(ngrams.begin());
    for (auto ngram = ngrams.rbegin(); ngram != ngrams.rend(); ++ngram) {
      pool_.erase(std::remove(pool_.begin(), pool_.end(), *ngram), pool_.end());
      pool_.push_back(*ngram);
    }
    trajectories_ = std::move(next);
    ++steps_;
  }

  Tokens chain(Token last) const {
    for (auto ngram = pool_.rbegin(); ngram != pool_.rend(); ++ngram) {
      if (ngram->front() == last) return {ngram->begin() + 1, ngram->end()};
    }
    return {};
  }

 private:
  const TableModel& model_;
  LookaheadOptions options_;
  std::map<std::size_t, Tokens> trajectories_;
  std::vector<Tokens> pool_;
  std::uint32_t steps_ = 0;
};

/// A model that counts how often it is asked.
struct CountingModel {
  const TableModel* model;
  int* asked;
  std::int32_t vocab() const { return model->vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    ++*asked;
    return model->next(context, scratch);
  }
};

}  // namespace

TEST_CASE("agrees with lookahead by absolute places, whatever is emitted") {
  int proposed = 0;
  for (const std::int32_t window : {1, 2, 7}) {
    for (const std::int32_t ngram : {2, 3, 5}) {
      for (const std::int32_t candidates : {1, 3}) {
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
          const std::int32_t vocab = 2 + static_cast<std::int32_t>(seed % 4);
          const TableModel model = random_model(seed, vocab, static_cast<std::int32_t>(seed % 3));
          const LookaheadOptions options{window, ngram, candidates, seed};
          const Drafter drafter(model, options);
          PlainLookahead plain(model, options);
          Drafter::Memory memory;
          Tokens settled = random_tokens(seed, 3, static_cast<std::uint64_t>(vocab));
          Philox growth = world(seed + 20);
          for (int round = 0; round < 30; ++round) {
            drafter.read(memory, settled);
            plain.read(settled);
            const Tokens chain = drafted_chain(drafter, memory, settled);
            CHECK(chain == plain.chain(settled.back()));
            proposed += chain.empty() ? 0 : 1;
            for (const auto& [first, known] : memory.pool) {
              CHECK(known.size() <= static_cast<std::size_t>(candidates * (ngram - 1)));
            }
            // The text sometimes grows by more than the window's width.
            for (std::uint64_t grown = 0; grown <= growth() % 4; ++grown) {
              const bool own = growth() % 2 == 0;
              settled.push_back(own ? greedy(model, settled)
                                    : static_cast<Token>(growth() % static_cast<std::uint64_t>(vocab)));
            }
          }
        }
      }
    }
  }
  CHECK(proposed > 1000);
}

TEST_CASE("an order-1 target: the pool comes to propose exactly its greedy continuation") {
  // Every guess starts from a context token, so that its trajectory reaches the same cycle as decoding. After
  // that and N - 1 more steps every added n-gram is right, and one period later each of its tokens has one:
  // within 3 * vocab + N steps.
  constexpr std::int32_t vocab = 12;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const TableModel model = random_model(seed, vocab, 1);
    for (const std::int32_t ngram : {2, 4}) {
      const Drafter drafter(model, {3, ngram, 2, seed});
      Drafter::Memory memory;
      Tokens settled{static_cast<Token>(seed % vocab)};
      const int warm = 3 * vocab + ngram;
      for (int round = 0; round < warm + 20; ++round) {
        drafter.read(memory, settled);
        const Tokens chain = drafted_chain(drafter, memory, settled);
        const Tokens expected = greedily(model, settled, static_cast<std::size_t>(ngram - 1));
        if (round >= warm) CHECK(chain == expected);
        // A round emits one token while the pool warms up; then all that greedy verification accepts, and one
        // more.
        const std::size_t emitted = round >= warm ? expected.size() + 1 : 1;
        const Tokens next = greedily(model, settled, emitted);
        settled.insert(settled.end(), next.begin(), next.end());
      }
    }
  }
}

TEST_CASE("right guesses are a fixed point, for a target of any order") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const TableModel model = random_model(seed, 6, 3);
    const std::size_t ngram = 4;
    const std::size_t window = 5;
    const Drafter drafter(model, {5, 4, 5, seed});
    Tokens settled{1, 4, 2, 5};
    const Tokens ahead = greedily(model, settled, 20);
    Drafter::Memory memory;
    drafter.read(memory, settled);
    // The guesses are those after a step with these context tokens: level k, column j is token number n + k +
    // j.
    for (std::size_t level = 0; level + 1 < ngram; ++level) {
      for (std::size_t column = 0; column < window; ++column) {
        memory.guesses[level * window + column] = ahead[level + column];
      }
    }
    for (std::size_t round = 0; round < 5; ++round) {
      settled.push_back(ahead[round]);
      drafter.read(memory, settled);
      CHECK(drafted_chain(drafter, memory, settled) == greedily(model, settled, ngram - 1));
      for (std::size_t column = 0; column < window; ++column) {
        CHECK(memory.guesses[column] == ahead[round + 1 + column]);
      }
    }
  }
}

TEST_CASE("a step asks for one row a column, and only new tokens bring a step") {
  int asked = 0;
  const TableModel table = random_model(1, 5, 1);
  const CountingModel model{&table, &asked};
  const LookaheadDrafter drafter(model, {6, 4, 2, 1});
  LookaheadDrafter<CountingModel>::Memory memory;
  drafter.read(memory, Tokens{1, 2});
  CHECK(asked == 6);
  drafter.read(memory, Tokens{1, 2});
  CHECK(asked == 6);
  drafter.read(memory, Tokens{1, 2, 3, 0});
  CHECK(asked == 12);
  CHECK(memory.steps == 2);
  CHECK(drafter.runs(0) == 1);
  CHECK(drafter.runs(3) == 1);
}

TEST_CASE("copies of a memory go their own ways") {
  const TableModel model = random_model(4, 5, 1);
  const LookaheadOptions options{3, 3, 2, 9};
  const Drafter drafter(model, options);
  Drafter::Memory one;
  const Tokens start{1, 2, 3};
  drafter.read(one, start);
  Drafter::Memory other = one;
  Tokens left = start;
  Tokens right = start;
  PlainLookahead plain_left(model, options);
  PlainLookahead plain_right(model, options);
  plain_left.read(start);
  plain_right.read(start);
  for (int round = 0; round < 20; ++round) {
    left.push_back(greedy(model, left));
    right.push_back(static_cast<Token>(round % 5));
    drafter.read(one, left);
    drafter.read(other, right);
    plain_left.read(left);
    plain_right.read(right);
    CHECK(drafted_chain(drafter, one, left) == plain_left.chain(left.back()));
    CHECK(drafted_chain(drafter, other, right) == plain_right.chain(right.back()));
  }
}

TEST_CASE("nothing settled, one token, invalid rows") {
  const TableModel certain(1, 0, {1});
  const Drafter drafter(certain, {2, 4, 1, 0});
  CHECK(fresh_chain(drafter, Tokens{}).empty());
  CHECK(fresh_chain(drafter, Tokens{0}) == Tokens{0, 0, 0});

  struct Invalid {
    std::int32_t vocab() const { return 2; }
    Row next(std::span<const Token>, std::vector<double>& scratch) const {
      scratch.assign(2, std::numeric_limits<double>::quiet_NaN());
      return {scratch.data(), 2};
    }
  };
  const Invalid invalid;
  const LookaheadDrafter on_invalid(invalid);
  LookaheadDrafter<Invalid>::Memory memory;
  CHECK_THROWS_WITH_AS(on_invalid.read(memory, Tokens{0}), doctest::Contains("NaN"), ModelError);
}
