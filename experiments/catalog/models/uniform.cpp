#include "experiments/catalog/models/built_model.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

ModelKind uniform_model() {
  struct P {
    std::optional<std::int32_t> vocab;
  };
  ModelKind made = stored_rows_kind<P>(kind_entry<ModelKind, P>(
      "uniform",
      "Every token equally likely; as a draft, the random drafter of Leviathan et al. 2023 (section 3.6).",
      {vocab_field<P>()}, [](const P& own, const std::string& path, const ModelRequest& request) {
        const std::int32_t vocab = vocab_of(own.vocab, path, request);
        return BuiltModel{TableModel(vocab, 0, uniform_row(vocab))};
      }));
  made.exact_rows = [](const SelectedKind&, std::size_t vocab, const std::optional<ExactRows>&) {
    ExactRows rows(1, std::vector<Rational>(vocab, Rational(1)));
    normalise_exactly(rows);
    return std::optional<ExactRows>(std::move(rows));
  };
  return made;
}

}  // namespace speclab
