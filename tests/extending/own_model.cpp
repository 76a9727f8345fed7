// A model: two tokens share most of the probability.
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/table_model.hpp"
#include "tests/extending/own_kinds.hpp"

namespace speclab {

namespace {

struct Parameters {
  std::int32_t vocab = 8;
  double share = 0.8;
};

}  // namespace

ModelKind two_peaks_model() {
  return kind_entry<ModelKind, Parameters>(
      "two-peaks", "The first two tokens share a part of the probability; the others share the rest.",
      {integer_field("vocab", &Parameters::vocab, 3, 1000, "Vocabulary size."),
       field("share", &Parameters::share, number(0, 1), "Probability of the first two tokens together.")},
      [](const Parameters& own, const std::string&, const ModelRequest&) {
        std::vector<double> row(static_cast<std::size_t>(own.vocab), (1 - own.share) / (own.vocab - 2));
        row[0] = row[1] = own.share / 2;
        return BuiltModel{TableModel(own.vocab, 0, std::move(row))};
      });
}

}  // namespace speclab
