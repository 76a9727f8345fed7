// N-gram models trained on the config's corpus: what ngram, unigram and bigram share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

/// Which part of the corpus a model is trained on.
enum class CorpusPart { all, first_half, second_half };

/// What such models are trained on.
struct TrainingText {
  CorpusPart part = CorpusPart::all;
  std::optional<CorpusConfig> corpus;  ///< instead of the config's
};

/// The keys "part" and "corpus" of such models.
template <class P>
std::vector<Field> training_fields() {
  return {field<P>("part", &P::part,
                   choice<CorpusPart>({{"all", CorpusPart::all},
                                       {"first_half", CorpusPart::first_half},
                                       {"second_half", CorpusPart::second_half}}),
                   "Which part of the corpus to train on; halves make draft and target independent."),
          field<P>("corpus", &P::corpus, corpus_type(),
                   "Text to train on instead of the config's corpus, in the same tokens: one that the target "
                   "generated, with tokenization \"ids\".")};
}

/// The interpolated Kneser-Ney model of this order, trained once for each corpus. Throws ConfigError, below
/// `path` for a corpus of its own, without a corpus, and ModelError for one that is too short.
BuiltModel trained_ngram(ModelRequest request, int order, const TrainingText& training,
                         const std::string& path);

/// The kind of such models of one order.
ModelKind ngram_of_order(std::string name, std::string sentence, int order);

}  // namespace speclab
