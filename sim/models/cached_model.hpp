// A model that copies from its own context: a cache and a pointer mixed into another model (Kuhn and De Mori
// 1990; Grave, Joulin and Usunier 2017). It serves as the target for tasks with repetitive text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"
#include "sim/models/model.hpp"

namespace speclab {

/// Options of the cache. The defaults are near the maximum likelihood for held-out C++ headers, help pages,
/// package descriptions and novels alike, over trigrams of each.
struct CacheOptions {
  double weight = 0.95;          ///< largest weight of the pointer, 0 <= weight < 1
  double half_match = 4;         ///< match length at which half of `weight` is reached, >= 0
  double unigram_weight = 0.05;  ///< weight without a match, 0 <= unigram_weight < 1
  double smoothing = 2;          ///< smoothing of longer matches by shorter ones, in occurrences, > 0
  std::int32_t max_match = 16;   ///< longest match searched for, >= 1
  std::int32_t window = 4096;    ///< tokens at the end of a context that are searched, >= 2
};

/// Satisfies LanguageModel. Let m, at most max_match, be the length of the longest suffix of the context that
/// occurred in it before. Then
///
///     P(w) = (1 - u(m)) base(w) + u(m) pointer_m(w)
///     u(0) = unigram_weight,  u(m) = weight * m / (m + half_match)
///     pointer_n(w) = (c_n(w) + smoothing * pointer_{n-1}(w)) / (C_n + smoothing)
///
/// where c_n(w) is how often w followed an earlier occurrence of the last n tokens, C_n is the sum of c_n,
/// and pointer_0 are the frequencies of the context's tokens. After an empty context the row is the base's.
/// Rows sum to 1 and have full support if the base's do. For all but the base, "the context" is its last
/// `window` tokens. Time: the base's row, a pass over the vocabulary and one over the context.
class CachedModel {
 public:
  CachedModel(Model base, const CacheOptions& options);

  std::int32_t vocab() const;
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// Returns the number of tokens at the end of a context on which its rows depend, if known for the base.
  std::optional<int> memory() const;
  std::optional<std::size_t> max_context() const { return base_.max_context(); }
  void prepare(std::span<const Token> context, std::size_t first) const { base_.prepare(context, first); }
  bool prepares() const { return base_.prepares(); }

 private:
  Model base_;
  CacheOptions options_;
};

}  // namespace speclab
