// Which words translate which: IBM Model 1 (Brown et al. 1993).
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
  /// `first` has one more entry than there are source words with NULL, which is the last: where the entries
  /// of each begin. Targets ascend within a source word.
  Lexicon(std::vector<std::uint32_t> first, std::vector<Token> targets, std::vector<double> probabilities);

  Token null() const { return static_cast<Token>(first_.size()) - 2; }
  std::size_t size() const { return targets_.size(); }
  std::span<const Token> targets(Token source) const {
    return std::span(targets_).subspan(begin(source), begin(source + 1) - begin(source));
  }
  std::span<const double> probabilities(Token source) const {
    return std::span(probabilities_).subspan(begin(source), begin(source + 1) - begin(source));
  }
  /// t(target | source), 0 where there is no entry. A binary search.
  double probability(Token source, Token target) const;

 private:
  std::size_t begin(Token source) const { return first_[static_cast<std::size_t>(source)]; }

  std::vector<std::uint32_t> first_;
  std::vector<Token> targets_;
  std::vector<double> probabilities_;
};

struct FittedLexicon {
  Lexicon lexicon;
  /// Logarithm of the likelihood of the targets given the sources before each iteration, and at the end;
  /// without the constant that stands for their lengths. It never falls.
  std::vector<double> log_likelihoods;
};

/// Expectation maximisation from uniform distributions over what occurs together. Entries below `least` are
/// dropped in the end, and what is left of a distribution is made to sum to 1; a distribution always keeps
/// its largest entry. The same bits at any number of threads. Memory: 4 bytes for each source token (and
/// NULL) times each target token of a pair. Tokens are 0 <= token < vocab. Throws ModelError for tokens that
/// are not.
FittedLexicon fit_lexicon(std::span<const SentencePair> pairs, std::int32_t vocab, int iterations,
                          double least);

}  // namespace speclab
