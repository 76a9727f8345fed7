#include "experiments/catalog/models/trained_ngram.hpp"

namespace speclab {

ModelKind ngram_model() {
  struct P : TrainingText {
    int order = 0;
  };
  const Field order = with_unit(
      integer_field("order", &P::order, 1, max_ngram_order, "Length of the longest n-gram."), "tokens");
  return kind_entry<ModelKind, P>("ngram", "Interpolated Kneser-Ney n-gram trained on the config's corpus.",
                                  joined({required(order)}, training_fields<P>()),
                                  [](const P& own, const std::string& path, const ModelRequest& request) {
                                    return trained_ngram(request, own.order, own, path);
                                  });
}

}  // namespace speclab
