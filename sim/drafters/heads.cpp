#include "sim/drafters/heads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "sim/error.hpp"
#include "sim/models/kneser_ney.hpp"

namespace speclab {

HeadsDrafter::HeadsDrafter(std::vector<Model> heads) : heads_(std::move(heads)) {
  assert(!heads_.empty());
  assert(std::all_of(heads_.begin(), heads_.end(),
                     [&](const Model& head) { return head.vocab() == heads_.front().vocab(); }));
}

Row HeadsDrafter::propose(Memory&, std::span<const Token> context, std::int32_t position,
                          std::vector<double>& storage) const {
  const auto at = static_cast<std::size_t>(position);
  if (at >= heads_.size()) return {};
  return heads_[at].next(context.first(context.size() - at), storage);
}

NgramModel train_head(std::span<const Token> tokens, std::int32_t vocab, std::int32_t distance) {
  const auto step = static_cast<std::size_t>(std::max(distance, 0));
  if (step < 1 || step >= tokens.size()) {
    throw ModelError(fmt::format("a head at distance {}: it must be at least 1 and below the {} tokens given",
                                 distance, tokens.size()));
  }
  std::vector<Token> by_residue;
  by_residue.reserve(tokens.size());
  for (std::size_t residue = 0; residue < step; ++residue) {
    for (std::size_t at = residue; at < tokens.size(); at += step) by_residue.push_back(tokens[at]);
  }
  return train_kneser_ney(by_residue, vocab, 2);
}

HeadsDrafter fit_heads(std::span<const Token> tokens, std::int32_t vocab, std::int32_t count,
                       const Adjustment& how) {
  if (count < 1) throw ModelError(fmt::format("{} heads: at least 1 is needed", count));
  std::vector<Model> heads;
  for (std::int32_t i = 0; i < count; ++i) {
    auto head = std::make_shared<const NgramModel>(train_head(tokens, vocab, i + 1));
    heads.push_back(adjusted(Model(std::move(head)), how));
  }
  return HeadsDrafter(std::move(heads));
}

}  // namespace speclab
