// n-gram models in back-off (ARPA) form: listed n-grams carry their full probability, and everything else is
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

#include "core/distribution/row.hpp"
#include "core/distribution/transforms.hpp"
#include "sim/models/ngram_level.hpp"
#include "sim/models/packed_ngram.hpp"

namespace speclab {

/// One line of an ARPA file. `backoff` is the weight of this n-gram as a context, 1 where none is given.
struct ListedNgram {
  PackedNgram key;
  double probability;
  double backoff = 1;
};

/// levels[n - 1] holds the n-grams, strictly ascending by key; levels[0] holds every
/// token. 1..max_ngram_order levels, 1 <= vocab <= max_ngram_vocab.
struct NgramList {
  std::int32_t vocab = 0;
  std::vector<std::vector<ListedNgram>> levels;
};

/// What to do with rows that do not sum to 1, as those of rounded files.
enum class RowSums { as_listed, renormalised };

/// Satisfies LanguageModel. Uses the last order - 1 tokens of a context, all of them ids below vocab.
class NgramModel {
 public:
  /// Throws ModelError when rows are to be renormalised and one sums to 0.
  explicit NgramModel(const NgramList& list, RowSums sums = RowSums::as_listed);
  /// Takes over what was made in place: levels[k - 1] holds the contexts of k tokens, not yet indexed, and
  /// each of them is known for something (followers, or a back-off weight other than 1). At most
  /// max_ngram_order - 1 levels. Rows are taken as listed.
  NgramModel(std::vector<double> unigrams, std::vector<NgramLevel> levels);

  std::int32_t vocab() const { return static_cast<std::int32_t>(unigrams_.size()); }
  int order() const { return static_cast<int>(levels_.size()) + 1; }
  /// How many tokens at the end of a context its rows depend on.
  int memory() const { return order() - 1; }
  /// Number of contexts of `length` tokens, 1 <= length < order, in which something is known.
  std::size_t contexts(int length) const { return level(length).contexts.size(); }

  /// The dense row: one pass over the vocabulary, then the listed followers. Without any known context the
  /// stored unigrams themselves.
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// One probability of the same row, found from the longest n-gram down. O(order) look-ups.
  double probability(std::span<const Token> context, Token token) const;

  /// The model at a temperature of at least `least_temperature`, without other options: again a back-off
  /// model, of probabilities and weights to the power 1/T, renormalised. None where a row's sum would be the
  /// difference of numbers 2^12 times as large, or 0, and for other options.
  std::optional<NgramModel> adjusted(const Adjustment& how) const;
  static constexpr double least_temperature = 0.1;  ///< powers of 1e-30 are far from the least double

  /// Largest |sum - 1| over the rows of the empty context and of up to `samples` known contexts of each
  /// length, evenly spaced.
  double max_row_error(std::size_t samples) const;

  /// What the model was made from.
  NgramList listed() const;

  /// What is known in one context.
  struct Known {
    PackedNgram key;
    double backoff;
    double scale;                   ///< 1 / (sum of the row), or 1 when rows are taken as listed
    std::span<const Token> tokens;  ///< its followers, ascending
    std::span<const double> probabilities;
  };
  /// The context at `index` among those of `length` tokens, which ascend by key.
  Known known(int length, std::size_t index) const;
  /// Where a context is among those of its length, if something is known in it.
  std::optional<std::size_t> position(int length, PackedNgram key) const;
  const NgramPacking& packing() const { return packing_; }
  std::span<const double> unigrams() const { return unigrams_; }
  double unigram_scale() const { return unigram_scale_; }

  /// Of the rows that were renormalised, the one whose listed sum was furthest from 1; the empty context's
  /// sum of 1 when rows are taken as listed.
  struct WorstRow {
    double sum = 1;
    std::vector<Token> context = {};
  };
  const WorstRow& worst_row() const { return worst_row_; }

  /// Memory the model holds: 8 bytes a token of the vocabulary, 40 to 48 a context (8 more when rows were
  /// renormalised), 12 an n-gram of two or more tokens, and less than 1 KiB.
  std::size_t bytes() const;

 private:
  /// Suffixes of a context by length - 1, null where nothing is known.
  using Suffixes = std::array<const NgramContext*, max_ngram_order - 1>;

  const NgramLevel& level(int length) const { return levels_[static_cast<std::size_t>(length - 1)]; }
  Suffixes suffixes(std::span<const Token> context) const;
  double scale(const Suffixes& known) const;
  double listed_probability(const Suffixes& known, Token token) const;
  /// Sets the scales of all rows. Returns the largest, over contexts, of the numbers that a row's sum is made
  /// from over that sum. Throws ModelError when a row sums to 0.
  double renormalise();

  NgramPacking packing_;
  std::vector<double> unigrams_;
  double unigram_scale_ = 1;
  WorstRow worst_row_;
  std::vector<NgramLevel> levels_;  // levels_[k - 1]: contexts of k tokens
};

}  // namespace speclab
