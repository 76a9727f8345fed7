#include "experiments/catalog/models/built_model.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

ModelKind zipf_model() {
  struct P {
    std::optional<std::int32_t> vocab;
    double exponent = 1;
    bool reversed = false;
  };
  return stored_rows_kind<P>(kind_entry<ModelKind, P>(
      "zipf", "I.i.d. tokens with probability proportional to 1/rank^exponent.",
      {vocab_field<P>(), field("exponent", &P::exponent, number(0, 20), "Zipf exponent."),
       field("reversed", &P::reversed, boolean(), "Count ranks from the last id.")},
      [](const P& own, const std::string& path, const ModelRequest& request) {
        const std::int32_t vocab = vocab_of(own.vocab, path, request);
        return BuiltModel{TableModel(vocab, 0, zipf_row(vocab, own.exponent, own.reversed))};
      }));
}

}  // namespace speclab
