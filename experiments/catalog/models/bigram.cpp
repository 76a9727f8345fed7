#include "experiments/catalog/models/trained_ngram.hpp"

namespace speclab {

namespace {

struct BigramParameters {
  CorpusPart part = CorpusPart::all;
};

}  // namespace

const ModelKind& bigram_model() {
  static const ModelKind kind = kind_entry<ModelKind, BigramParameters>(
      "bigram", "The n-gram of order 2.", {part_field<BigramParameters>()},
      [](const BigramParameters& parameters, const std::string&, const ModelRequest& request) {
        return trained_ngram(request, 2, parameters.part);
      });
  return kind;
}

}  // namespace speclab
