#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

namespace {

struct MarkovParameters {
  std::int32_t vocab = 0;
  double concentration = 0.3;
  std::uint64_t seed = 1;
};

}  // namespace

ModelKind markov_model() {
  return kind_entry<ModelKind, MarkovParameters>(
      "markov", "Markov chain of order 1 whose rows are drawn from a symmetric Dirichlet distribution.",
      {required(with_unit(integer_field("vocab", &MarkovParameters::vocab, 1, 8192,
                                        "Vocabulary size; vocab^2 probabilities are stored."),
                          "tokens")),
       field("concentration", &MarkovParameters::concentration, number_above(0, 1e6),
             "Concentration parameter; smaller puts more probability on fewer tokens."),
       integer_field("seed", &MarkovParameters::seed, 0, 9e15, "Seed of the rows.")},
      [](const MarkovParameters& parameters, const std::string&, const ModelRequest&) {
        const std::int32_t vocab = parameters.vocab;
        return BuiltModel{TableModel(vocab, 1,
                                     dirichlet_rows(vocab, static_cast<std::uint32_t>(vocab),
                                                    parameters.concentration, parameters.seed))};
      });
}

}  // namespace speclab
