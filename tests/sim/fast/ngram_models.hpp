// Small n-gram models for the tests of fast decoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/random/philox.hpp"
#include "sim/models/kneser_ney.hpp"
#include "sim/models/ngram_model.hpp"
#include "tests/sim/random_tokens.hpp"

namespace speclab {

/// Trains a model on a text whose tokens depend on the one before, so that contexts matter.
inline NgramModel trained(std::uint64_t seed, std::int32_t vocab, int order, std::size_t length) {
  Philox stream = world(seed);
  std::vector<Token> tokens{0};
  while (tokens.size() < length) {
    const auto noise = static_cast<Token>(stream() % static_cast<std::uint64_t>(vocab));
    const bool follows = stream() % 3 != 0;
    tokens.push_back(follows ? (tokens.back() * 3 + noise % 2) % vocab : noise / (1 + noise % 3));
  }
  return train_kneser_ney(tokens, vocab, order);
}

/// Returns the model with n-grams of all lengths listed below their back-off probability, as in models of
/// Katz.
inline NgramModel with_low_ngrams(const NgramModel& model, std::uint64_t seed) {
  Philox stream = world(seed);
  NgramList list = model.listed();
  for (std::size_t k = 1; k < list.levels.size(); ++k) {
    for (ListedNgram& ngram : list.levels[k]) {
      if (stream() % 2 == 0) ngram.probability *= 0.3;
      if (stream() % 16 == 0) ngram.probability = 0;
      ngram.backoff *= 1 + static_cast<double>(stream() % 3);
    }
  }
  return NgramModel(list, RowSums::renormalised);
}

}  // namespace speclab
