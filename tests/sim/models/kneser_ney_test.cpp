#include "sim/models/kneser_ney.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/error.hpp"
#include "tests/sim/models/row_error.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

using Ngram = std::vector<Token>;

/// The formulas of sim/models/kneser_ney.hpp over maps and sets, without packing, sorting or back-off form.
class PlainKneserNey {
 public:
  PlainKneserNey(const std::vector<Token>& tokens, std::int32_t vocab, int order)
      : vocab_(vocab), counts_(static_cast<std::size_t>(order) + 1), discounts_(counts_.size()) {
    for (std::size_t n = 1; n < counts_.size(); ++n) {
      std::map<Ngram, std::set<Token>> before;
      for (std::size_t i = 0; i + n <= tokens.size(); ++i) {
        const Ngram ngram(tokens.begin() + static_cast<long>(i), tokens.begin() + static_cast<long>(i + n));
        before[ngram].insert(i == 0 ? -1 : tokens[i - 1]);
        if (n + 1 == counts_.size()) counts_[n][ngram] += 1;
      }
      if (n + 1 < counts_.size()) {
        for (const auto& [ngram, distinct] : before) counts_[n][ngram] = static_cast<double>(distinct.size());
      }
      double once = 0;
      double twice = 0;
      for (const auto& [ngram, count] : counts_[n]) {
        once += count == 1;
        twice += count == 2;
      }
      discounts_[n] = once > 0 && twice > 0 ? once / (once + 2 * twice) : 0.5;
    }
  }

  double at(const Ngram& context, Token token) const {
    const std::size_t n = context.size() + 1;
    const double lower = n == 1 ? 1.0 / vocab_ : at(Ngram(context.begin() + 1, context.end()), token);
    double total = 0;
    double followers = 0;
    double own = 0;
    for (Token other = 0; other < vocab_; ++other) {
      Ngram ngram = context;
      ngram.push_back(other);
      const auto found = counts_[n].find(ngram);
      if (found == counts_[n].end()) continue;
      total += found->second;
      followers += 1;
      if (other == token) own = found->second;
    }
    if (total == 0) return lower;
    return (std::max(own - discounts_[n], 0.0) + discounts_[n] * followers * lower) / total;
  }

 private:
  std::int32_t vocab_;
  std::vector<std::map<Ngram, double>> counts_;
  std::vector<double> discounts_;
};

/// Returns FNV-1a over every key, probability and back-off weight that a model lists, bit for bit.
std::uint64_t fingerprint(const NgramModel& model) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3U; };
  for (const auto& level : model.listed().levels) {
    add(level.size());
    for (const ListedNgram& ngram : level) {
      add(static_cast<std::uint64_t>(ngram.key >> 64U));
      add(static_cast<std::uint64_t>(ngram.key));
      add(std::bit_cast<std::uint64_t>(ngram.probability));
      add(std::bit_cast<std::uint64_t>(ngram.backoff));
    }
  }
  return hash;
}

}  // namespace

TEST_CASE("a b a b c by hand") {
  // Tokens a b a b c over {a, b, c, d}, order 2.
  // Bigrams: ab 2, ba 1, bc 1; n1 = 2, n2 = 1, D = 2/4 = 1/2.
  // Distinct tokens before: a {start, b} 2, b {a} 1, c {b} 1; n1 = 2, n2 = 1, D = 1/2; total 4, three kinds.
  //   P(a) = 1.5/4 + (1/2)(3/4)(1/4) = 15/32, P(b) = P(c) = 0.5/4 + 3/32 = 7/32, P(d) = 3/32.
  // After a (count 2, one follower, weight 1/4): P(b) = 1.5/2 + 7/128 = 103/128; a 15/128, c 7/128, d 3/128.
  // After b (count 2, two followers, weight 1/2): P(a) = 1/4 + 15/64 = 31/64, P(c) = 1/4 + 7/64 = 23/64; b
  // 7/64, d 3/64. After c and d nothing was seen: the unigrams.
  const NgramModel model = train_kneser_ney(Ngram{0, 1, 0, 1, 2}, 4, 2);
  const std::vector<std::pair<Ngram, std::vector<double>>> expected{
      {{}, {15.0 / 32, 7.0 / 32, 7.0 / 32, 3.0 / 32}},
      {{0}, {15.0 / 128, 103.0 / 128, 7.0 / 128, 3.0 / 128}},
      {{1}, {31.0 / 64, 7.0 / 64, 23.0 / 64, 3.0 / 64}},
      {{2}, {15.0 / 32, 7.0 / 32, 7.0 / 32, 3.0 / 32}},
      {{3}, {15.0 / 32, 7.0 / 32, 7.0 / 32, 3.0 / 32}},
  };
  std::vector<double> scratch;
  for (const auto& [context, row] : expected) {
    const Row got = model.next(context, scratch);
    CHECK(std::vector<double>(got.probabilities, got.probabilities + got.size) == row);  // all dyadic: exact
  }
}

TEST_CASE("order 1 counts occurrences: a a a b b c by hand") {
  // Counts 3, 2, 1; n1 = n2 = 1, D = 1/3; total 6; uniform share (1/3)(3/6)/4 = 1/24.
  const NgramModel model = train_kneser_ney(Ngram{0, 0, 0, 1, 1, 2}, 4, 1);
  CHECK(model.probability({}, 0) == doctest::Approx(8.0 / 18 + 1.0 / 24).epsilon(1e-14));
  CHECK(model.probability({}, 1) == doctest::Approx(5.0 / 18 + 1.0 / 24).epsilon(1e-14));
  CHECK(model.probability({}, 2) == doctest::Approx(2.0 / 18 + 1.0 / 24).epsilon(1e-14));
  CHECK(model.probability({}, 3) == doctest::Approx(1.0 / 24).epsilon(1e-14));
}

TEST_CASE("agrees with the plain formulas in every context, orders 1 to 5") {
  constexpr std::int32_t vocab = 5;  // token 4 never occurs
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const std::size_t length : {std::size_t{5}, std::size_t{30}, std::size_t{400}}) {
      const std::vector<Token> tokens = random_tokens(seed, length, 4);
      for (int order = 1; order <= max_ngram_order; ++order) {
        const NgramModel model = train_kneser_ney(tokens, vocab, order);
        const PlainKneserNey plain(tokens, vocab, order);
        std::vector<double> scratch;
        double worst = 0;
        double worst_sum = 0;
        for (int known = 0; known < order; ++known) {
          for (const Ngram& context : all_contexts(vocab, known)) {
            const Row row = model.next(context, scratch);
            worst_sum = std::max(worst_sum, std::abs(total_probability(row) - 1));
            for (Token token = 0; token < vocab; ++token) {
              const double expected = plain.at(context, token);
              worst = std::max(worst, std::abs(row[token] - expected));
              worst = std::max(worst, std::abs(model.probability(context, token) - expected));
              CHECK_UNARY(row[token] > 0);
            }
          }
        }
        CHECK(worst < 1e-14);
        CHECK(worst_sum < 1e-14);
      }
    }
  }
}

TEST_CASE("keys wider than 64 bits: far-apart ids, order 5") {
  constexpr std::int32_t vocab = 70000;  // 17 bits per token, 85 bits per n-gram
  std::vector<Token> tokens = random_tokens(11, 60, 4);
  for (Token& token : tokens) token = token * 23000 + 7;
  const NgramModel model = train_kneser_ney(tokens, vocab, 5);
  const PlainKneserNey plain(tokens, vocab, 5);
  for (std::size_t end = 5; end < 15; ++end) {
    const Ngram context(tokens.begin() + static_cast<long>(end - 4), tokens.begin() + static_cast<long>(end));
    for (const Token token : {Token{7}, Token{23007}, Token{46007}, Token{1}}) {
      CHECK(std::abs(model.probability(context, token) - plain.at(context, token)) < 1e-14);
    }
  }
  CHECK(max_row_error(model, 20) < 1e-12);
}

TEST_CASE("results stay what they were, to the last bit, orders 1 to 5") {
  // The values are those of the first implementation, which sorted whole keys with std::sort. The 8000 tokens
  // are ids below 300 (9 bits, 45 per n-gram), and the same ids spread over 70000 (17 bits, 85 per n-gram).
  const std::vector<std::uint64_t> close_ids{13108977015749566775U, 11001021841163042235U,
                                             17257244708466000868U, 1952844451218647959U,
                                             16345210438718309460U};
  const std::vector<std::uint64_t> far_ids{3310888604997259559U, 12561283003705288724U, 12238629491226598002U,
                                           8032646630634392995U, 2127550293653749718U};
  // This does not use random_tokens: the order of its two draws is the compiler's choice.
  Philox stream = world(21);
  std::vector<Token> tokens;
  while (tokens.size() < 8000) {
    const std::uint64_t bound = 1 + stream() % 300;
    tokens.push_back(static_cast<Token>(stream() % bound));
  }
  for (int order = 1; order <= max_ngram_order; ++order) {
    CHECK(fingerprint(train_kneser_ney(tokens, 300, order)) ==
          close_ids[static_cast<std::size_t>(order - 1)]);
  }
  for (Token& token : tokens) token = token * 233 + 5;
  for (int order = 1; order <= max_ngram_order; ++order) {
    CHECK(fingerprint(train_kneser_ney(tokens, 70000, order)) ==
          far_ids[static_cast<std::size_t>(order - 1)]);
  }
}

TEST_CASE("only the last order - 1 tokens matter") {
  const std::vector<Token> tokens = random_tokens(2, 200, 4);
  const NgramModel model = train_kneser_ney(tokens, 4, 3);
  std::vector<double> scratch;
  std::vector<double> other;
  for (const Ngram& context : all_contexts(4, 4)) {
    const Row full = model.next(context, scratch);
    const Row tail = model.next(std::span(context).last(2), other);
    for (Token token = 0; token < 4; ++token) CHECK(full[token] == tail[token]);
  }
}

TEST_CASE("one-token vocabulary: certain") {
  const NgramModel model = train_kneser_ney(Ngram{0, 0, 0}, 1, 3);
  std::vector<double> scratch;
  CHECK(model.next(Ngram{0, 0}, scratch)[0] == doctest::Approx(1).epsilon(1e-15));
}

TEST_CASE("bad input is refused by value") {
  CHECK_THROWS_WITH_AS(train_kneser_ney(Ngram{0, 1}, 2, 6), doctest::Contains("order 6"), ModelError);
  CHECK_THROWS_WITH_AS(train_kneser_ney(Ngram{0, 1}, 2, 0), doctest::Contains("order 0"), ModelError);
  CHECK_THROWS_WITH_AS(train_kneser_ney(Ngram{0, 1}, 2, 3), doctest::Contains("2 tokens"), ModelError);
  CHECK_THROWS_WITH_AS(train_kneser_ney(Ngram{0, 2}, 2, 1), doctest::Contains("is 2"), ModelError);
  CHECK_THROWS_WITH_AS(train_kneser_ney(Ngram{0, -1}, 2, 1), doctest::Contains("is -1"), ModelError);
  CHECK_THROWS_WITH_AS(train_kneser_ney(Ngram{0}, 0, 1), doctest::Contains("vocabulary of 0"), ModelError);
}
