#include "experiments/bench/model_pairs.hpp"

#include <span>
#include <utility>

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
