#include "sim/models/translation_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <utility>

#include "sim/error.hpp"
#include "sim/models/kneser_ney.hpp"

namespace speclab {

namespace {

constexpr int em_iterations = 5;
/// Smallest translation probability kept: rarer translations make rows slow and hardly better.
constexpr double min_translation = 1e-3;

std::size_t index(Token token) { return static_cast<std::size_t>(token); }

/// Returns the documents from their separator on, in sequence, and a separator at the end.
std::vector<Token> target_stream(std::span<const std::vector<Token>> documents, Token separator) {
  std::vector<Token> stream;
  for (const std::vector<Token>& document : documents) {
    stream.insert(stream.end(), std::find(document.begin(), document.end(), separator), document.end());
  }
  stream.push_back(separator);
  return stream;
}

std::vector<SentencePair> sentence_pairs(std::span<const std::vector<Token>> documents, Token separator) {
  std::vector<SentencePair> pairs;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto middle = std::find(documents[i].begin(), documents[i].end(), separator);
    if (middle == documents[i].end())
      throw ModelError(fmt::format("document {} has no separator between source and target", i));
    SentencePair pair{{documents[i].begin(), middle}, {middle + 1, documents[i].end()}};
    pair.target.push_back(separator);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace

TranslationModel::TranslationModel(std::shared_ptr<const NgramModel> language,
                                   std::shared_ptr<const Lexicon> lexicon, std::vector<double> frequencies,
                                   Token separator, const TranslationOptions& options)
    : language_(std::move(language)),
      lexicon_(std::move(lexicon)),
      frequencies_(std::move(frequencies)),
      separator_(separator),
      options_(options) {
  assert(lexicon_->null() == vocab() && frequencies_.size() == index(vocab()));
  assert(0 <= separator && separator < vocab());
  assert(options.lift >= 0 && 0 < options.smoothing && options.smoothing <= 1 && options.coverage >= 0);
}

TranslationModel TranslationModel::with(const TranslationOptions& options) const {
  return {language_, lexicon_, frequencies_, separator_, options};
}

std::vector<double> TranslationModel::lexical(std::span<const Token> source,
                                              std::span<const Token> target) const {
  std::vector<Token> words(source.begin(), source.end());
  words.push_back(lexicon_->null());
  std::vector<double> covered(words.size());
  std::vector<double> shares(words.size());
  for (const Token word : options_.coverage > 0 ? target : std::span<const Token>()) {
    double total = 0;
    for (std::size_t i = 0; i < words.size(); ++i) total += shares[i] = lexicon_->probability(words[i], word);
    if (!(total > 0)) continue;
    for (std::size_t i = 0; i < source.size(); ++i) covered[i] += shares[i] / total;
  }
  std::vector<double> weights;
  double total = 0;
  for (const double share : covered) total += weights.emplace_back(1 / (1 + options_.coverage * share));
  std::vector<double> distribution(index(vocab()));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::span<const Token> targets = lexicon_->targets(words[i]);
    const std::span<const double> probabilities = lexicon_->probabilities(words[i]);
    const double weight = weights[i] / total;
    for (std::size_t k = 0; k < targets.size(); ++k)
      distribution[index(targets[k])] += weight * probabilities[k];
  }
  return distribution;
}

Row TranslationModel::next(std::span<const Token> context, std::vector<double>& scratch) const {
  const auto middle = std::find(context.begin(), context.end(), separator_);
  const auto length = static_cast<std::size_t>(middle - context.begin());
  if (middle == context.end()) return language_->next(context, scratch);
  const Row row = language_->next(context.subspan(length), scratch);
  if (options_.lift == 0) return row;

  const auto last = std::find(context.rbegin(), context.rend(), separator_);
  const std::vector<double> distribution =
      lexical(context.first(length), context.last(static_cast<std::size_t>(last - context.rbegin())));
  if (row.probabilities != scratch.data()) scratch.resize(index(row.size));
  const double rest = 1 - options_.smoothing;
  const double untranslated = std::pow(options_.smoothing, options_.lift);
  for (Token id = 0; id < row.size; ++id) {
    const double share = distribution[index(id)];
    const double factor =
        share == 0 ? untranslated
                   : std::pow(options_.smoothing + rest * share / frequencies_[index(id)], options_.lift);
    scratch[index(id)] = row.probabilities[id] * factor;
  }
  const double scale = 1 / total_probability(Row{scratch.data(), row.size});
  for (double& probability : scratch) probability *= scale;
  return {scratch.data(), row.size};
}

std::shared_ptr<const NgramModel> train_target_language(std::span<const std::vector<Token>> documents,
                                                        Token separator, std::int32_t vocab, int order) {
  return std::make_shared<const NgramModel>(
      train_kneser_ney(target_stream(documents, separator), vocab, order));
}

std::shared_ptr<const TranslationModel> train_translation(std::span<const std::vector<Token>> documents,
                                                          Token separator, std::int32_t vocab, int order,
                                                          const TranslationOptions& options) {
  const std::vector<SentencePair> pairs = sentence_pairs(documents, separator);
  auto language = train_target_language(documents, separator, vocab, order);
  const auto unigram = train_target_language(documents, separator, vocab, 1);
  const std::span<const double> frequencies = unigram->unigrams();
  auto lexicon =
      std::make_shared<const Lexicon>(fit_lexicon(pairs, vocab, em_iterations, min_translation).lexicon);
  return std::make_shared<const TranslationModel>(std::move(language), std::move(lexicon),
                                                  std::vector<double>(frequencies.begin(), frequencies.end()),
                                                  separator, options);
}

}  // namespace speclab
