#include "experiments/bench/model_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "core/random/philox.hpp"
#include "sim/models/kneser_ney.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

namespace {

/// Returns at least `bytes` bytes of words in which n-grams repeat as in print, but rather more rarely: ranks
/// are log-uniform or steeper (Zipf), and 85 of 100 words are one of the usual followers of the last one or
/// two. About four bytes per word. Always the same text; a shorter one is the beginning of a longer one.
std::string made_text(std::size_t bytes) {
  constexpr double log_words = 13.8;  // a million
  const auto rank = [](Philox& stream) { return std::exp(std::pow(open_unit(stream()), 1.8) * log_words); };
  Philox stream(1, Site{0, 0, Draw{Use::world, 0}});
  std::string text;
  std::uint32_t before = 0;
  std::uint32_t last = 0;
  while (text.size() < bytes) {
    const double known = open_unit(stream());
    const auto choice = static_cast<std::uint32_t>(std::min(std::pow(open_unit(stream()), -1.2), 1e6));
    // The word that follows is drawn from a separate stream, whose address is the words before it.
    Philox follower(choice, Site{known < 0.4 ? before : 0, last, Draw{Use::world, 1}});
    const auto word = static_cast<std::uint32_t>(rank(known < 0.85 ? follower : stream));
    constexpr std::string_view marks = ",.;:'!?-\"()_";
    if (word <= marks.size()) {
      text += marks[word - 1];
    } else {
      text += ' ';
      for (std::uint32_t rest = word; rest > 0; rest /= 6) text += static_cast<char>('a' + rest % 26);
    }
    before = last;
    last = word;
  }
  return text;
}

PairModels stored_pair(std::int32_t vocab) {
  const auto table = [&](std::uint64_t seed) {
    return TableModel(vocab, 1, dirichlet_rows(vocab, static_cast<std::uint32_t>(vocab), 0.3, seed));
  };
  TableModel target = table(1);
  TableModel draft = mixed(target, table(2), 0.3);
  return {Model(std::move(target)), Model(std::move(draft))};
}

}  // namespace

const Corpus& BenchPairs::numbered(std::int32_t vocab) {
  const auto known = corpora_.find(vocab);
  if (known != corpora_.end()) return known->second;
  if (text_.empty()) text_ = made_text(text_bytes_);
  return corpora_.emplace(vocab, make_corpus(text_, Tokenization::words, vocab)).first->second;
}

PairModels BenchPairs::trained(const PairShape& shape) {
  const std::span<const Token> tokens = numbered(shape.vocab).tokens;
  const std::size_t half = tokens.size() / 2;
  // The vocabulary includes words that a short text lacks, so that it has the size of `shape`.
  const auto model = [&](std::span<const Token> part, int order) {
    return Model(std::make_shared<const NgramModel>(train_kneser_ney(part, shape.vocab, order)));
  };
  return {model(tokens.first(half), shape.target_order), model(tokens.subspan(half), shape.draft_order)};
}

BenchPair& BenchPairs::prepared(const PairShape& shape) {
  std::unique_ptr<BenchPair>& pair = pairs_[shape.name];
  if (pair) return *pair;
  pair.reset(new BenchPair{shape.stored() ? stored_pair(shape.vocab) : trained(shape)});
  pair->tables = std::make_unique<const FastPair>(pair->target, pair->draft, AnyRule(TokenRule{}));
  return *pair;
}

}  // namespace speclab
