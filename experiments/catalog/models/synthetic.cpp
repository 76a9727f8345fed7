// Models of stored rows that a formula or a seed gives.
#include "sim/models/synthetic.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

namespace {

/// Returns the kind of models of i.i.d. tokens with the probabilities `row(parameters, vocab)`.
template <class P>
ModelKind row_kind(const char* name, const char* sentence, std::vector<Field> fields,
                   std::vector<double> (*row)(const P& own, std::int32_t vocab)) {
  fields.insert(fields.begin(), vocab_field<P>());
  return stored_rows_kind<P>(
      kind_entry<ModelKind, P>(name, sentence, std::move(fields),
                               [row](const P& own, const std::string& path, const ModelRequest& request) {
                                 const std::int32_t vocab = vocab_of(own.vocab, path, request);
                                 return BuiltModel{TableModel(vocab, 0, row(own, vocab))};
                               }));
}

template <class P>
Field concentration_field() {
  return field("concentration", &P::concentration, number_above(0, 1e6),
               "Concentration parameter; smaller puts more probability on fewer tokens.");
}

}  // namespace

ModelKind zipf_model() {
  struct P {
    std::optional<std::int32_t> vocab;
    double exponent = 1;
    bool reversed = false;
  };
  return row_kind<P>(
      "zipf", "I.i.d. tokens with probability proportional to 1/rank^exponent.",
      {field("exponent", &P::exponent, number(0, 20), "Zipf exponent."),
       field("reversed", &P::reversed, boolean(), "Count ranks from the last id.")},
      [](const P& own, std::int32_t vocab) { return zipf_row(vocab, own.exponent, own.reversed); });
}

ModelKind dirichlet_model() {
  struct P {
    std::optional<std::int32_t> vocab;
    double concentration = 1;
    std::uint64_t seed = 1;
  };
  return row_kind<P>(
      "dirichlet", "I.i.d. tokens; the row is drawn from a symmetric Dirichlet distribution.",
      {concentration_field<P>(), integer_field("seed", &P::seed, 0, 9e15, "Seed of the row itself.")},
      [](const P& own, std::int32_t vocab) { return dirichlet_rows(vocab, 1, own.concentration, own.seed); });
}

ModelKind uniform_model() {
  struct P {
    std::optional<std::int32_t> vocab;
  };
  ModelKind made = row_kind<P>(
      "uniform",
      "Every token equally likely; as a draft, the random drafter of Leviathan et al. 2023 (section 3.6).",
      {}, [](const P&, std::int32_t vocab) { return uniform_row(vocab); });
  made.exact_rows = [](const SelectedKind&, std::size_t vocab, const std::optional<ExactRows>&) {
    ExactRows rows(1, std::vector<Rational>(vocab, Rational(1)));
    normalise_exactly(rows);
    return std::optional<ExactRows>(std::move(rows));
  };
  return made;
}

ModelKind point_model() {
  struct P {
    std::optional<std::int32_t> vocab;
    Token token = 0;
  };
  ModelKind made = row_kind<P>("point", "Always the same token.",
                               {integer_field("token", &P::token, 0, max_model_vocab, "Its id.")},
                               [](const P& own, std::int32_t vocab) { return point_row(vocab, own.token); });
  made.facts = [](const SelectedKind& selected, const FactsRequest& request) {
    const P& own = selected.as<P>();
    const auto vocab = vocab_of(own.vocab, selected.path, request);
    if (vocab && own.token >= *vocab) {
      throw ConfigError(selected.path + "/token", "{} is outside the vocabulary of {} tokens", own.token,
                        *vocab);
    }
    return ModelFacts{vocab, true, false};
  };
  made.exact_rows = [](const SelectedKind& selected, std::size_t vocab, const std::optional<ExactRows>&) {
    ExactRows rows(1, std::vector<Rational>(vocab, Rational(0)));
    rows[0][static_cast<std::size_t>(selected.as<P>().token)] = 1;
    return std::optional<ExactRows>(std::move(rows));
  };
  return made;
}

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
       concentration_field<P>(), integer_field("seed", &P::seed, 0, 9e15, "Seed of the rows.")},
      [](const P& own, const auto&...) {
        const auto rows = static_cast<std::uint32_t>(own.vocab);
        return BuiltModel{
            TableModel(own.vocab, 1, dirichlet_rows(own.vocab, rows, own.concentration, own.seed))};
      }));
}

}  // namespace speclab
