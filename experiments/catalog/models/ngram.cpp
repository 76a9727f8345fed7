#include "experiments/catalog/models/trained_ngram.hpp"

namespace speclab {

namespace {

struct NgramParameters {
  int order = 0;
  CorpusPart part = CorpusPart::all;
};

}  // namespace

const ModelKind& ngram_model() {
  static const ModelKind kind = model_kind<NgramParameters>(
      "ngram", "Interpolated Kneser-Ney n-gram trained on the config's corpus.",
      {required(with_unit(integer_field<&NgramParameters::order>("order", 1, max_ngram_order,
                                                                 "Length of the longest n-gram."),
                          "tokens")),
       part_field<&NgramParameters::part>()},
      [](const NgramParameters& parameters, const std::string&, const ModelRequest& request) {
        return trained_ngram(request, parameters.order, parameters.part);
      });
  return kind;
}

}  // namespace speclab
