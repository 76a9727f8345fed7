#include "experiments/catalog/models/trained_ngram.hpp"

namespace speclab {

namespace {

struct UnigramParameters {
  CorpusPart part = CorpusPart::all;
};

}  // namespace

const ModelKind& unigram_model() {
  static const ModelKind kind = kind_entry<ModelKind, UnigramParameters>(
      "unigram", "The n-gram of order 1.", {part_field<UnigramParameters>()},
      [](const UnigramParameters& parameters, const std::string&, const ModelRequest& request) {
        return trained_ngram(request, 1, parameters.part);
      });
  return kind;
}

}  // namespace speclab
