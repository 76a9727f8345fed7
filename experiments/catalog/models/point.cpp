#include <fmt/format.h>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/built_model.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

ModelKind point_model() {
  struct P {
    std::optional<std::int32_t> vocab;
    Token token = 0;
  };
  ModelKind made = kind_entry<ModelKind, P>(
      "point", "Always the same token.",
      {vocab_field<P>(), integer_field("token", &P::token, 0, max_model_vocab, "Its id.")},
      [](const P& own, const std::string& path, const ModelRequest& request) {
        const std::int32_t vocab = vocab_of(own.vocab, path, request);
        return BuiltModel{TableModel(vocab, 0, point_row(vocab, own.token))};
      });
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

}  // namespace speclab
