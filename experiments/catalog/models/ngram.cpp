#include "experiments/catalog/models/trained_ngram.hpp"

namespace speclab {

namespace {

struct NgramParameters : TrainingText {
  int order = 0;
};

}  // namespace

ModelKind ngram_model() {
  std::vector<Field> fields = training_fields<NgramParameters>();
  fields.insert(fields.begin(),
                required(with_unit(integer_field("order", &NgramParameters::order, 1, max_ngram_order,
                                                 "Length of the longest n-gram."),
                                   "tokens")));
  return kind_entry<ModelKind, NgramParameters>(
      "ngram", "Interpolated Kneser-Ney n-gram trained on the config's corpus.", std::move(fields),
      [](const NgramParameters& own, const std::string& path, const ModelRequest& request) {
        return trained_ngram(request, own.order, own, path);
      });
}

}  // namespace speclab
