#include "experiments/bench/model_pairs.hpp"

#include <ctime>
#include <span>
#include <utility>

#include "sim/models/kneser_ney.hpp"
#include "sim/models/synthetic.hpp"
#include "sim/text/made_text.hpp"

namespace speclab {

namespace {

std::unique_ptr<BenchPair> bench_pair(Model target, Model draft, const PreparationRow& costs) {
  return std::unique_ptr<BenchPair>(new BenchPair{std::move(target), std::move(draft), costs, nullptr});
}

std::unique_ptr<BenchPair> stored_pair(std::int32_t vocab) {
  const auto rows = [vocab](std::uint64_t seed) {
    return TableModel(vocab, 1, dirichlet_rows(vocab, static_cast<std::uint32_t>(vocab), 0.3, seed));
  };
  TableModel target = rows(1);
  TableModel draft = mixed(target, rows(2), 0.3);
  return bench_pair(Model(std::move(target)), Model(std::move(draft)), {});
}

Model trained(std::span<const Token> tokens, std::int32_t vocab, int order) {
  return {std::make_shared<const NgramModel>(train_kneser_ney(tokens, vocab, order))};
}

}  // namespace

double thread_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const PairMaker::NumberedText& PairMaker::numbered(std::int32_t vocab) {
  const auto known = corpora_.find(vocab);
  if (known != corpora_.end()) return known->second;
  if (text_.empty()) text_ = made_text(text_bytes_);
  const double start = thread_seconds();
  Corpus corpus = make_corpus(text_, Tokenization::words, vocab);
  const double seconds = thread_seconds() - start;
  return corpora_.emplace(vocab, NumberedText{std::move(corpus), seconds}).first->second;
}

std::unique_ptr<BenchPair> PairMaker::make(const PairShape& shape) {
  if (shape.stored()) return stored_pair(shape.vocab);
  const NumberedText& text = numbered(shape.vocab);
  const std::span<const Token> tokens = text.corpus.tokens;
  const std::size_t half = tokens.size() / 2;
  const double start = thread_seconds();
  // Words that a short text lacks are still in the vocabulary, so that the shape is what it says.
  Model target = trained(tokens.first(half), shape.vocab, shape.target_order);
  Model draft = trained(tokens.subspan(half), shape.vocab, shape.draft_order);
  const double seconds = thread_seconds() - start;
  PreparationRow costs;
  costs.text_bytes = text_.size();
  costs.tokens = tokens.size();
  costs.corpus_seconds = text.seconds;
  costs.training_seconds = seconds;
  costs.text_bytes_per_second = static_cast<double>(text_.size()) / (text.seconds + seconds);
  return bench_pair(std::move(target), std::move(draft), costs);
}

}  // namespace speclab
