#include "experiments/bench/model_pairs.hpp"

#include <ctime>
#include <span>
#include <utility>

#include "experiments/base/support/machine.hpp"
#include "sim/models/kneser_ney.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/text/made_text.hpp"

namespace speclab {

namespace {

PairModels stored_pair(std::int32_t vocab) {
  const auto table = [&](std::uint64_t seed) {
    return TableModel(vocab, 1, dirichlet_rows(vocab, static_cast<std::uint32_t>(vocab), 0.3, seed));
  };
  TableModel target = table(1);
  TableModel draft = mixed(target, table(2), 0.3);
  return {Model(std::move(target)), Model(std::move(draft))};
}

}  // namespace

double thread_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const BenchPairs::NumberedText& BenchPairs::numbered(std::int32_t vocab) {
  const auto known = corpora_.find(vocab);
  if (known != corpora_.end()) return known->second;
  if (text_.empty()) text_ = made_text(text_bytes_);
  const double start = thread_seconds();
  Corpus corpus = make_corpus(text_, Tokenization::words, vocab);
  const double seconds = thread_seconds() - start;
  return corpora_.emplace(vocab, NumberedText{std::move(corpus), seconds}).first->second;
}

std::unique_ptr<BenchPair> BenchPairs::trained(const PairShape& shape) {
  const NumberedText& text = numbered(shape.vocab);
  const std::span<const Token> tokens = text.corpus.tokens;
  const std::size_t half = tokens.size() / 2;
  // The vocabulary includes words that a short text lacks, so that the vocabulary's size is that of `shape`.
  const auto model = [&](std::span<const Token> part, int order) {
    return Model(std::make_shared<const NgramModel>(train_kneser_ney(part, shape.vocab, order)));
  };
  const double start = thread_seconds();
  PairModels models{model(tokens.first(half), shape.target_order),
                    model(tokens.subspan(half), shape.draft_order)};
  const double seconds = thread_seconds() - start;
  return std::unique_ptr<BenchPair>(
      new BenchPair{std::move(models),
                    {.name = {},
                     .text_bytes = text_.size(),
                     .tokens = tokens.size(),
                     .corpus_seconds = text.seconds,
                     .training_seconds = seconds,
                     .text_bytes_per_second = static_cast<double>(text_.size()) / (text.seconds + seconds)}});
}

BenchPair& BenchPairs::prepared(const PairShape& shape) {
  std::unique_ptr<BenchPair>& pair = pairs_[shape.name];
  if (pair) return *pair;
  const ThreadLimit one(1);
  pair = shape.stored() ? std::unique_ptr<BenchPair>(new BenchPair{stored_pair(shape.vocab), {}})
                        : trained(shape);
  const double start = thread_seconds();
  pair->tables = std::make_unique<const FastPair>(pair->target, pair->draft, AnyRule(TokenRule{}));
  pair->costs.preparing_seconds = thread_seconds() - start;
  pair->costs.name = shape.name;
  pair->costs.contexts = pair->tables->contexts();
  pair->costs.table_bytes = pair->tables->bytes();
  return *pair;
}

}  // namespace speclab
