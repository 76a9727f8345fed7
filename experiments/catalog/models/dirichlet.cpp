#include "experiments/catalog/models/built_model.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

ModelKind dirichlet_model() {
  struct P {
    std::optional<std::int32_t> vocab;
    double concentration = 1;
    std::uint64_t seed = 1;
  };
  return stored_rows_kind<P>(kind_entry<ModelKind, P>(
      "dirichlet", "I.i.d. tokens; the row is drawn from a symmetric Dirichlet distribution.",
      {vocab_field<P>(),
       field("concentration", &P::concentration, number_above(0, 1e6),
             "Concentration parameter; smaller puts more probability on fewer tokens."),
       integer_field("seed", &P::seed, 0, 9e15, "Seed of the row itself.")},
      [](const P& own, const std::string& path, const ModelRequest& request) {
        const std::int32_t vocab = vocab_of(own.vocab, path, request);
        return BuiltModel{TableModel(vocab, 0, dirichlet_rows(vocab, 1, own.concentration, own.seed))};
      }));
}

}  // namespace speclab
