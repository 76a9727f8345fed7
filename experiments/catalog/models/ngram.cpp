#include "experiments/catalog/models/trained_ngram.hpp"

namespace speclab {

namespace {

struct NgramParameters {
  int order = 0;
  CorpusPart part = CorpusPart::all;
};

}  // namespace

ModelKind ngram_model() {
  return kind_entry<ModelKind, NgramParameters>(
      "ngram", "Interpolated Kneser-Ney n-gram trained on the config's corpus.",
      {required(with_unit(integer_field("order", &NgramParameters::order, 1, max_ngram_order,
                                        "Length of the longest n-gram."),
                          "tokens")),
       part_field<NgramParameters>()},
      [](const NgramParameters& parameters, const std::string&, const ModelRequest& request) {
        return trained_ngram(request, parameters.order, parameters.part);
      });
}

}  // namespace speclab
