// N-gram models trained on the config's corpus: what ngram, unigram and bigram share.
#pragma once

#include <string>

#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

/// Which part of the corpus a model is trained on.
enum class CorpusPart { all, first_half, second_half };

/// The key "part" of such models.
template <class P>
Field part_field() {
  return field("part", &P::part,
               choice<CorpusPart>({{"all", CorpusPart::all},
                                   {"first_half", CorpusPart::first_half},
                                   {"second_half", CorpusPart::second_half}}),
               "Which part of the corpus to train on; halves make draft and target independent.");
}

/// The interpolated Kneser-Ney model of this order, trained once for each corpus. Throws ConfigError without
/// a corpus, and ModelError for one that is too short.
BuiltModel trained_ngram(const ModelRequest& request, int order, CorpusPart part);

/// The kind of such models of one order.
ModelKind ngram_of_order(std::string name, std::string sentence, int order);

}  // namespace speclab
