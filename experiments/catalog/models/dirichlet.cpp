#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

namespace {

struct DirichletParameters {
  std::optional<std::int32_t> vocab;
  double concentration = 1;
  std::uint64_t seed = 1;
};

}  // namespace

ModelKind dirichlet_model() {
  return kind_entry<ModelKind, DirichletParameters>(
      "dirichlet", "I.i.d. tokens; the row is drawn from a symmetric Dirichlet distribution.",
      {vocab_field<DirichletParameters>(),
       field("concentration", &DirichletParameters::concentration, number_above(0, 1e6),
             "Concentration parameter; smaller puts more probability on fewer tokens."),
       integer_field("seed", &DirichletParameters::seed, 0, 9e15, "Seed of the row itself.")},
      [](const DirichletParameters& parameters, const std::string& path, const ModelRequest& request) {
        const std::int32_t vocab = vocab_of(parameters.vocab, path, request);
        return BuiltModel{
            TableModel(vocab, 0, dirichlet_rows(vocab, 1, parameters.concentration, parameters.seed))};
      });
}

}  // namespace speclab
