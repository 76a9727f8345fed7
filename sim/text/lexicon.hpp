// Learns which words translate which: IBM Model 1 (Brown et al. 1993).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/token.hpp"

namespace speclab {

/// A sentence and its translation, as ids of one vocabulary.
struct SentencePair {
  std::vector<Token> source;
  std::vector<Token> target;
};

/// The table t(target | source): one distribution over target words for each source word, and one for NULL,
/// the word that is in every source sentence.
class Lexicon {
 public:
  /// `first` holds where the entries of each source word begin, NULL last, and one more entry for the end.
  /// Targets ascend within a source word.
  Lexicon(std::vector<std::uint32_t> first, std::vector<Token> targets, std::vector<double> probabilities);

  Token null() const { return static_cast<Token>(first_.size()) - 2; }
  std::size_t size() const { return targets_.size(); }
  std::span<const Token> targets(Token source) const {
    return std::span(targets_).subspan(begin(source), begin(source + 1) - begin(source));
  }
  std::span<const double> probabilities(Token source) const {
    return std::span(probabilities_).subspan(begin(source), begin(source + 1) - begin(source));
  }
  /// Returns t(target | source), 0 if there is no entry, by binary search.
  double probability(Token source, Token target) const;

 private:
  std::size_t begin(Token source) const { return first_[static_cast<std::size_t>(source)]; }

  std::vector<std::uint32_t> first_;
  std::vector<Token> targets_;
  std::vector<double> probabilities_;
};

struct FittedLexicon {
  Lexicon lexicon;
  /// Log-likelihood of the targets given the sources, before each iteration and at the end, without the
  /// constant for their lengths. It never decreases.
  std::vector<double> log_likelihoods;
};

/// Fits by expectation maximisation, starting from uniform distributions over words that occur together. At
/// the end it drops entries below `least` and normalises each distribution again; a distribution always keeps
/// its largest entry. Gives the same bits for any number of threads. Memory: 4 bytes for each source token
/// (and NULL) times each target token of a pair. Tokens are 0 <= token < vocab; throws ModelError for others.
FittedLexicon fit_lexicon(std::span<const SentencePair> pairs, std::int32_t vocab, int iterations,
                          double least);

}  // namespace speclab
