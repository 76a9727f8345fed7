#include "experiments/catalog/models/built_model.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

ModelKind markov_model() {
  struct P {
    std::int32_t vocab = 0;
    double concentration = 0.3;
    std::uint64_t seed = 1;
  };
  return stored_rows_kind<P>(kind_entry<ModelKind, P>(
      "markov", "Markov chain of order 1 whose rows are drawn from a symmetric Dirichlet distribution.",
      {required(with_unit(
           integer_field("vocab", &P::vocab, 1, 8192, "Vocabulary size; vocab^2 probabilities are stored."),
           "tokens")),
       field("concentration", &P::concentration, number_above(0, 1e6),
             "Concentration parameter; smaller puts more probability on fewer tokens."),
       integer_field("seed", &P::seed, 0, 9e15, "Seed of the rows.")},
      [](const P& own, const auto&...) {
        const auto rows = static_cast<std::uint32_t>(own.vocab);
        return BuiltModel{
            TableModel(own.vocab, 1, dirichlet_rows(own.vocab, rows, own.concentration, own.seed))};
      }));
}

}  // namespace speclab
