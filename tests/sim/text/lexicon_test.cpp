#include "sim/text/lexicon.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/error.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;

namespace {

std::vector<SentencePair> random_pairs(std::uint64_t seed, std::size_t count, std::int32_t vocab) {
  std::vector<SentencePair> pairs;
  Philox stream = world(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const auto used = static_cast<std::uint64_t>(vocab);
    pairs.push_back(
        {random_tokens(stream(), stream() % 7, used), random_tokens(stream(), stream() % 7, used)});
  }
  return pairs;
}

/// Runs expectation maximisation over dense tables, as in the paper. table[source][target].
std::vector<std::vector<double>> reference(const std::vector<SentencePair>& pairs, std::int32_t vocab,
                                           int iterations) {
  const auto size = static_cast<std::size_t>(vocab);
  // Before the first iteration all entries of a distribution that can have a count are equal.
  std::vector<std::vector<double>> table(size + 1, std::vector<double>(size));
  const auto with_null = [&](const SentencePair& pair) {
    std::vector<Token> source = pair.source;
    source.push_back(vocab);
    return source;
  };
  const auto at = [](auto& rows, Token s, Token t) -> double& {
    return rows[static_cast<std::size_t>(s)][static_cast<std::size_t>(t)];
  };
  const auto normalise = [](auto& rows) {
    for (auto& row : rows) {
      double total = 0;
      for (const double probability : row) total += probability;
      for (double& probability : row) probability /= total > 0 ? total : 1;
    }
  };
  for (const SentencePair& pair : pairs) {
    for (const Token s : with_null(pair)) {
      for (const Token t : pair.target) at(table, s, t) = 1;
    }
  }
  normalise(table);
  for (int i = 0; i < iterations; ++i) {
    std::vector<std::vector<double>> counts(size + 1, std::vector<double>(size));
    for (const SentencePair& pair : pairs) {
      for (const Token t : pair.target) {
        double sum = 0;
        for (const Token s : with_null(pair)) sum += at(table, s, t);
        for (const Token s : with_null(pair)) at(counts, s, t) += at(table, s, t) / sum;
      }
    }
    normalise(counts);
    table = counts;
  }
  return table;
}

}  // namespace

TEST_CASE("lexicon: one iteration by hand") {
  // a = 0, b = 1, x = 2, y = 3.
  const std::vector<SentencePair> pairs{{{0}, {2}}, {{0, 1}, {2, 3}}};
  const FittedLexicon fitted = fit_lexicon(pairs, 4, 1, 0);
  const Lexicon& lexicon = fitted.lexicon;
  // From t = 1/2 everywhere, a and NULL count x 1/2 + 1/3 times and y 1/3 times; b counts both 1/3 times.
  CHECK(lexicon.probability(0, 2) == doctest::Approx(5.0 / 7));
  CHECK(lexicon.probability(0, 3) == doctest::Approx(2.0 / 7));
  CHECK(lexicon.probability(1, 2) == doctest::Approx(0.5));
  CHECK(lexicon.probability(lexicon.null(), 2) == doctest::Approx(5.0 / 7));
  CHECK(lexicon.probability(0, 1) == 0);
  CHECK(lexicon.targets(2).empty());
  REQUIRE(fitted.log_likelihoods.size() == 2);
  CHECK(fitted.log_likelihoods[0] == doctest::Approx(3 * std::log(0.5)));
  CHECK(fitted.log_likelihoods[1] ==
        doctest::Approx(std::log(5.0 / 7) + std::log((10.0 / 7 + 0.5) / 3) + std::log((4.0 / 7 + 0.5) / 3)));
}

TEST_CASE("lexicon: equals dense expectation maximisation, and the likelihood never falls") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::int32_t vocab = 9;
    const std::vector<SentencePair> pairs = random_pairs(seed, 60, vocab);
    for (const int iterations : {0, 1, 5}) {
      const FittedLexicon fitted = fit_lexicon(pairs, vocab, iterations, 0);
      const auto expected = reference(pairs, vocab, iterations);
      double worst = 0;
      for (Token s = 0; s <= vocab; ++s) {
        for (Token t = 0; t < vocab; ++t) {
          const double here = expected[static_cast<std::size_t>(s)][static_cast<std::size_t>(t)];
          worst = std::max(worst, std::abs(fitted.lexicon.probability(s, t) - here));
        }
      }
      CHECK(worst < 1e-13);
      CHECK(fitted.log_likelihoods.size() == static_cast<std::size_t>(iterations) + 1);
      for (std::size_t i = 1; i < fitted.log_likelihoods.size(); ++i)
        CHECK(fitted.log_likelihoods[i] >= fitted.log_likelihoods[i - 1]);
    }
  }
}

TEST_CASE("lexicon: finds a dictionary that its pairs were made with") {
  const std::int32_t words = 20;
  std::vector<SentencePair> pairs = random_pairs(5, 400, words);
  for (SentencePair& pair : pairs) {
    pair.target.clear();
    for (const Token token : pair.source) pair.target.insert(pair.target.begin(), 2 * words - 1 - token);
  }
  const Lexicon lexicon = fit_lexicon(pairs, 2 * words, 20, 0).lexicon;
  for (Token word = 0; word < words; ++word) CHECK(lexicon.probability(word, 2 * words - 1 - word) > 0.5);
}

TEST_CASE("lexicon: rare entries go, distributions still sum to 1, and none is left without an entry") {
  const std::int32_t vocab = 12;
  const std::vector<SentencePair> pairs = random_pairs(6, 80, vocab);
  const Lexicon whole = fit_lexicon(pairs, vocab, 3, 0).lexicon;
  const Lexicon some = fit_lexicon(pairs, vocab, 3, 0.05).lexicon;
  const Lexicon few = fit_lexicon(pairs, vocab, 3, 2).lexicon;
  CHECK(some.size() < whole.size());
  CHECK(few.size() < some.size());
  for (const Lexicon* lexicon : {&whole, &some, &few}) {
    for (Token word = 0; word <= lexicon->null(); ++word) {
      CHECK(lexicon->targets(word).empty() == whole.targets(word).empty());
      if (lexicon->targets(word).empty()) continue;
      double total = 0;
      for (const double probability : lexicon->probabilities(word)) total += probability;
      CHECK(total == doctest::Approx(1));
    }
  }
}

TEST_CASE("lexicon: the same bits at any number of threads") {
  const std::vector<SentencePair> pairs = random_pairs(7, 2000, 300);
  const auto fit = [&](std::size_t threads) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    return fit_lexicon(pairs, 300, 4, 1e-4);
  };
  const FittedLexicon one = fit(1);
  for (const std::size_t threads : {2, 5}) {
    const FittedLexicon many = fit(threads);
    CHECK(one.log_likelihoods == many.log_likelihoods);
    bool same = one.lexicon.size() == many.lexicon.size();
    for (Token word = 0; same && word <= one.lexicon.null(); ++word) {
      const auto a = one.lexicon.probabilities(word);
      const auto b = many.lexicon.probabilities(word);
      same = std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    CHECK(same);
  }
}

TEST_CASE("lexicon: tokens must be ids") {
  const std::vector<SentencePair> above{{{0}, {4}}};
  const std::vector<SentencePair> below{{{-1}, {0}}};
  CHECK_THROWS_AS(fit_lexicon(above, 4, 1, 0), ModelError);
  CHECK_THROWS_AS(fit_lexicon(below, 4, 1, 0), ModelError);
}
