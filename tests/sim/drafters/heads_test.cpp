#include "sim/drafters/heads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "sim/drafters/drafter.hpp"
#include "sim/error.hpp"
#include "sim/models/kneser_ney.hpp"
#include "tests/sim/random_tokens.hpp"

using namespace speclab;
static_assert(RowDrafter<HeadsDrafter>);

namespace {

using Tokens = std::vector<Token>;

/// Interpolated Kneser-Ney of the pairs at a distance, counted at their places in the text.
class PlainHead {
 public:
  PlainHead(const Tokens& text, std::int32_t vocab, std::size_t distance) : vocab_(vocab) {
    before_[text[0]].insert(-1);  // the start of the stream
    const auto add = [&](Token first, Token second) {
      ++pairs_[{first, second}];
      before_[second].insert(first);
    };
    for (std::size_t at = 0; at + distance < text.size(); ++at) add(text[at], text[at + distance]);
    for (std::size_t residue = 0; residue + 1 < distance; ++residue) {
      std::size_t last = residue;
      while (last + distance < text.size()) last += distance;
      add(text[last], text[residue + 1]);
    }
    std::vector<int> counts;
    for (const auto& [pair, count] : pairs_) counts.push_back(count);
    pair_discount_ = discount(counts);
    counts.clear();
    for (const auto& [token, distinct] : before_) counts.push_back(static_cast<int>(distinct.size()));
    single_discount_ = discount(counts);
  }

  double at(Token first, Token second) const {
    double total = 0;
    double kinds = 0;
    for (const auto& [pair, count] : pairs_) {
      if (pair.first != first) continue;
      total += count;
      kinds += 1;
    }
    if (total == 0) return single(second);
    const auto found = pairs_.find({first, second});
    const double own = found == pairs_.end() ? 0 : found->second;
    return (std::max(own - pair_discount_, 0.0) + pair_discount_ * kinds * single(second)) / total;
  }

  double single(Token token) const {
    double total = 0;
    for (const auto& [other, distinct] : before_) total += static_cast<double>(distinct.size());
    const auto found = before_.find(token);
    const double own = found == before_.end() ? 0 : static_cast<double>(found->second.size());
    const auto kinds = static_cast<double>(before_.size());
    return (std::max(own - single_discount_, 0.0) + single_discount_ * kinds / vocab_) / total;
  }

 private:
  static double discount(const std::vector<int>& counts) {
    const auto once = static_cast<double>(std::count(counts.begin(), counts.end(), 1));
    const auto twice = static_cast<double>(std::count(counts.begin(), counts.end(), 2));
    return once > 0 && twice > 0 ? once / (once + 2 * twice) : 0.5;
  }

  std::int32_t vocab_;
  std::map<std::pair<Token, Token>, int> pairs_;
  std::map<Token, std::set<Token>> before_;
  double pair_discount_ = 0;
  double single_discount_ = 0;
};

}  // namespace

TEST_CASE("a head's rows are those of the pairs at its distance") {
  constexpr std::int32_t vocab = 6;  // token 5 never occurs
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const std::size_t length : {std::size_t{9}, std::size_t{40}, std::size_t{500}}) {
      const Tokens text = random_tokens(seed, length, 5);
      for (const std::int32_t distance : {1, 2, 3, 5, 8}) {
        const NgramModel head = train_head(text, vocab, distance);
        const PlainHead plain(text, vocab, static_cast<std::size_t>(distance));
        std::vector<double> scratch;
        double worst = 0;
        for (Token first = 0; first < vocab; ++first) {
          const Row row = head.next(Tokens{3, first}, scratch);
          for (Token second = 0; second < vocab; ++second) {
            worst = std::max(worst, std::abs(row[second] - plain.at(first, second)));
          }
        }
        CHECK(worst < 1e-14);
      }
    }
  }
}

TEST_CASE("a text in which distances differ: 0 1 2 0 1 2 ...") {
  Tokens text;
  for (Token i = 0; i < 3000; ++i) text.push_back(i % 3);
  const HeadsDrafter drafter = fit_heads(text, 3, 5);
  HeadsDrafter::Memory memory;
  std::vector<double> storage;
  Tokens context{2, 0, 1};
  for (std::int32_t position = 0; position < 5; ++position) {
    const Row row = drafter.propose(memory, context, position, storage);
    REQUIRE(row.size == 3);
    CHECK(argmax(row) == (2 + position) % 3);
    CHECK(row[argmax(row)] > 0.99);
    context.push_back(0);
  }
  CHECK(drafter.propose(memory, context, 5, storage).size == 0);
  CHECK(drafter.runs(0) == 0);
  CHECK(drafter.runs(1) == 1);
  CHECK(drafter.runs(5) == 1);
}

TEST_CASE("head 0 is a bigram of the text, and no head sees what was drafted") {
  const Tokens text = random_tokens(5, 400, 4);
  const HeadsDrafter drafter = fit_heads(text, 4, 3);
  const NgramModel first = train_kneser_ney(text, 4, 2);
  HeadsDrafter::Memory memory;
  std::vector<double> storage;
  std::vector<double> other;
  const Tokens settled{1, 3, 0, 2};
  const Row row = drafter.propose(memory, settled, 0, storage);
  const Row expected = first.next(settled, other);
  for (Token token = 0; token < 4; ++token) CHECK(row[token] == expected[token]);
  for (const Tokens& drafted : {Tokens{0, 0}, Tokens{1, 3}, Tokens{2, 1}}) {
    Tokens context = settled;
    context.insert(context.end(), drafted.begin(), drafted.end());
    const Row third = drafter.propose(memory, context, 2, storage);
    const Row alone = drafter.heads()[2].next(settled, other);
    for (Token token = 0; token < 4; ++token) CHECK(third[token] == alone[token]);
  }
  // After an empty context every head gives its unigrams.
  CHECK(drafter.propose(memory, Tokens{}, 0, storage).size == 4);
  CHECK(drafter.propose(memory, Tokens{3}, 1, storage).size == 4);
}

TEST_CASE("temperature 0: blockwise parallel decoding's argmax") {
  const Tokens text = random_tokens(6, 300, 5);
  const HeadsDrafter plain = fit_heads(text, 5, 3);
  const HeadsDrafter sharp = fit_heads(text, 5, 3, {0, 0, 1});
  HeadsDrafter::Memory memory;
  std::vector<double> storage;
  std::vector<double> other;
  for (Token last = 0; last < 5; ++last) {
    Tokens context{last};
    for (std::int32_t position = 0; position < 3; ++position) {
      const Token best = argmax(plain.propose(memory, context, position, other));
      const Row row = sharp.propose(memory, context, position, storage);
      for (Token token = 0; token < 5; ++token) CHECK(row[token] == (token == best ? 1 : 0));
      context.push_back(0);
    }
  }
}

TEST_CASE("one-token vocabulary: certain") {
  const HeadsDrafter drafter = fit_heads(Tokens{0, 0, 0, 0}, 1, 2);
  HeadsDrafter::Memory memory;
  std::vector<double> storage;
  CHECK(drafter.propose(memory, Tokens{0, 0}, 1, storage)[0] == doctest::Approx(1).epsilon(1e-15));
}

TEST_CASE("bad input is refused by value") {
  CHECK_THROWS_WITH_AS(train_head(Tokens{0, 1, 0}, 2, 3), doctest::Contains("distance 3"), ModelError);
  CHECK_THROWS_WITH_AS(train_head(Tokens{0, 1, 0}, 2, 0), doctest::Contains("distance 0"), ModelError);
  CHECK_THROWS_WITH_AS(fit_heads(Tokens{0, 1, 0}, 2, 0), doctest::Contains("0 heads"), ModelError);
  CHECK_THROWS_WITH_AS(fit_heads(Tokens{0, 2, 0}, 2, 1), doctest::Contains("is 2"), ModelError);
}
