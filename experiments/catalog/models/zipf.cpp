#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

namespace {

struct ZipfParameters {
  std::optional<std::int32_t> vocab;
  double exponent = 1;
  bool reversed = false;
};

}  // namespace

ModelKind zipf_model() {
  return kind_entry<ModelKind, ZipfParameters>(
      "zipf", "I.i.d. tokens with probability proportional to 1/rank^exponent.",
      {vocab_field<ZipfParameters>(),
       field("exponent", &ZipfParameters::exponent, number(0, 20), "Zipf exponent."),
       field("reversed", &ZipfParameters::reversed, boolean(), "Count ranks from the last id.")},
      [](const ZipfParameters& parameters, const std::string& path, const ModelRequest& request) {
        const std::int32_t vocab = vocab_of(parameters.vocab, path, request);
        return BuiltModel{TableModel(vocab, 0, zipf_row(vocab, parameters.exponent, parameters.reversed))};
      });
}

}  // namespace speclab
