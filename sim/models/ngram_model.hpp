// n-gram models in back-off (ARPA) form: listed n-grams carry their full probability, and every other n-gram
// has
//     P(w | a b c) = backoff(a b c) * P(w | b c)
// with a back-off weight of 1 for contexts that are not listed (Katz 1987; the format is SRILM's
// ngram-format(5)).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/distribution/adjustment.hpp"
#include "core/distribution/row.hpp"
#include "sim/models/ngram_level.hpp"
#include "sim/models/packed_ngram.hpp"

namespace speclab {

/// One line of an ARPA file. `backoff` is the weight of this n-gram as a context, 1 if none is given.
struct ListedNgram {
  PackedNgram key;
  double probability;
  double backoff = 1;
};

/// The n-grams of a model. levels[n - 1] holds those of n tokens, strictly ascending by key; levels[0] holds
/// every token. 1..max_ngram_order levels, 1 <= vocab <= max_ngram_vocab.
struct NgramList {
  std::int32_t vocab = 0;
  std::vector<std::vector<ListedNgram>> levels;
};

/// Treatment of rows that do not sum to 1, as in files with rounded numbers.
enum class RowSums { as_listed, renormalised };

/// Satisfies LanguageModel. Uses the last order - 1 tokens of a context, all of them ids below vocab.
class NgramModel {
 public:
  /// Throws ModelError if rows are to be renormalised and one sums to 0.
  explicit NgramModel(const NgramList& list, RowSums sums = RowSums::as_listed);
  /// Takes over levels that were built in place: levels[k - 1] holds the contexts of k tokens, not yet
  /// indexed. Each context has followers, or a back-off weight other than 1. At most max_ngram_order - 1
  /// levels. Rows are taken as listed.
  NgramModel(std::vector<double> unigrams, std::vector<NgramLevel> levels);

  std::int32_t vocab() const { return static_cast<std::int32_t>(unigrams_.size()); }
  int order() const { return static_cast<int>(levels_.size()) + 1; }
  /// Returns the number of tokens at the end of a context on which its rows depend.
  int memory() const { return order() - 1; }
  /// Returns the number of known contexts of `length` tokens, 1 <= length < order: those with followers or a
  /// back-off weight.
  std::size_t contexts(int length) const { return level(length).contexts.size(); }
  /// Returns the number of followers of all these contexts together.
  std::size_t followers(int length) const { return level(length).tokens.size(); }

  /// Returns the dense row: one pass over the vocabulary, then the listed followers. Without any known
  /// context these are the stored unigrams themselves.
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// Returns one probability of the same row, searching from the longest n-gram down. O(order) look-ups.
  double probability(std::span<const Token> context, Token token) const;

  /// Returns the model at a temperature of at least `min_temperature`, without other options: again a
  /// back-off model, with probabilities and weights to the power 1/T, renormalised. Returns none for other
  /// options, or if a row's sum would be 0 or lose 12 bits to cancellation.
  std::optional<NgramModel> adjusted(const Adjustment& how) const;
  static constexpr double min_temperature = 0.1;  ///< 1e-30 becomes 1e-300, which a double still holds

  /// Returns the n-grams that the model was made from.
  NgramList listed() const;

  struct Known {
    PackedNgram key;
    double backoff;
    double scale;                   ///< 1 / (sum of the row), or 1 if rows are taken as listed
    std::span<const Token> tokens;  ///< its followers, ascending
    std::span<const double> probabilities;
  };
  /// Returns the context at `index` among those of `length` tokens, which ascend by key.
  Known known(int length, std::size_t index) const;
  /// Returns the index of a context among those of its length, if it is known.
  std::optional<std::size_t> position(int length, PackedNgram key) const;
  const NgramPacking& packing() const { return packing_; }
  std::span<const double> unigrams() const { return unigrams_; }
  double unigram_scale() const { return unigram_scale_; }

  /// The renormalised row whose listed sum was furthest from 1; if rows are taken as listed, the empty
  /// context with sum 1.
  struct WorstRow {
    double sum = 1;
    std::vector<Token> context = {};
  };
  const WorstRow& worst_row() const { return worst_row_; }

  /// Returns the bytes that the model holds: 8 per token of the vocabulary, 40 to 48 per context (8 more if
  /// rows were renormalised), 12 per n-gram of two or more tokens, and less than 1 KiB.
  std::size_t bytes() const;

 private:
  /// Suffixes of a context by length - 1, null for unknown ones.
  using Suffixes = std::array<const NgramContext*, max_ngram_order - 1>;

  const NgramLevel& level(int length) const { return levels_[static_cast<std::size_t>(length - 1)]; }
  Suffixes suffixes(std::span<const Token> context) const;
  double scale(const Suffixes& known) const;
  double listed_probability(const Suffixes& known, Token token) const;
  /// Sets the scales of all rows. A row's sum is computed from terms that may be larger than the sum: returns
  /// the largest ratio of a term to its sum, to bound cancellation. Throws ModelError if a row sums to 0.
  double renormalise();

  NgramPacking packing_;
  std::vector<double> unigrams_;
  double unigram_scale_ = 1;
  WorstRow worst_row_;
  std::vector<NgramLevel> levels_;  // levels_[k - 1]: contexts of k tokens
};

}  // namespace speclab
