// A translation model: an n-gram model of the target language that favours words which translate the source.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"
#include "sim/models/ngram_model.hpp"
#include "sim/text/documents.hpp"
#include "sim/text/lexicon.hpp"

namespace speclab {

/// Options; the defaults are near the maximum likelihood for held-out English and German help pages, over a
/// trigram.
struct TranslationOptions {
  double lift = 1;         ///< exponent of the lift, >= 0; 0 leaves the n-gram unchanged
  double smoothing = 0.1;  ///< weight of the target language's frequencies in the lexicon, 0 < smoothing <= 1
  double coverage = 4;     ///< discount of a source word for each target word that translated it, >= 0
};

/// Satisfies LanguageModel. A context holds source tokens, the separator, and target tokens so far:
///
///     P(w) ~ language(w | separator, target so far) * lift(w)^options.lift
///     lift(w) = smoothing + (1 - smoothing) * lexical(w) / frequency(w)
///     lexical(w) = sum_i v_i t(w | source i) / sum_i v_i
///     v_i = 1 / (1 + coverage * sum over target tokens g so far of t(g | source i) / sum_k t(g | source k))
///
/// where i and k run over the source tokens and NULL, whose v is 1, and t is the lexicon: a log-linear
/// combination (Och and Ney 2002). A second separator ends the translation and begins another of the same
/// source. Before any separator the rows are the language's. The rows have full support if the language's do.
class TranslationModel {
 public:
  /// The parts share one vocabulary. `frequencies` are positive.
  TranslationModel(std::shared_ptr<const NgramModel> language, std::shared_ptr<const Lexicon> lexicon,
                   std::vector<double> frequencies, Token separator, const TranslationOptions& options);

  std::int32_t vocab() const { return language_->vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  const TranslationOptions& options() const { return options_; }
  /// Returns a model of the same parts with other options.
  TranslationModel with(const TranslationOptions& options) const;

 private:
  std::vector<double> lexical(std::span<const Token> source, std::span<const Token> target) const;

  std::shared_ptr<const NgramModel> language_;
  std::shared_ptr<const Lexicon> lexicon_;
  std::vector<double> frequencies_;
  Token separator_;
  TranslationOptions options_;
};

/// Trains a Kneser-Ney n-gram on the targets alone, each from a separator to the next. It serves as a draft
/// that does not see the source. Documents are as in ParallelDocuments.
std::shared_ptr<const NgramModel> train_target_language(std::span<const std::vector<Token>> documents,
                                                        Token separator, std::int32_t vocab, int order);

/// Trains all parts on the same documents: the language as above, and the lexicon by five iterations of
/// expectation maximisation, with the separator as the last word of each target. Throws ModelError for
/// documents without a separator, and as training does.
std::shared_ptr<const TranslationModel> train_translation(std::span<const std::vector<Token>> documents,
                                                          Token separator, std::int32_t vocab, int order,
                                                          const TranslationOptions& options = {});

}  // namespace speclab
