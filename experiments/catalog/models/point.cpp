#include <fmt/format.h>

#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/format/config_error.hpp"
#include "sim/models/synthetic.hpp"

namespace speclab {

namespace {

struct PointParameters {
  std::optional<std::int32_t> vocab;
  Token token = 0;
};

}  // namespace

ModelKind point_model() {
  ModelKind made = kind_entry<ModelKind, PointParameters>(
      "point", "Always the same token.",
      {vocab_field<PointParameters>(),
       integer_field("token", &PointParameters::token, 0, max_model_vocab, "Its id.")},
      [](const PointParameters& parameters, const std::string& path, const ModelRequest& request) {
        const std::int32_t vocab = vocab_of(parameters.vocab, path, request);
        if (parameters.token >= vocab) {
          throw ConfigError(path + "/token", fmt::format("{} is outside the vocabulary of {} tokens",
                                                         parameters.token, vocab));
        }
        return BuiltModel{TableModel(vocab, 0, point_row(vocab, parameters.token))};
      });
  made.exact_rows = [](const SelectedKind& selected, std::size_t vocab, const std::optional<ExactRows>&) {
    const auto& parameters = selected.as<PointParameters>();
    ExactRows rows(1, std::vector<Rational>(vocab, Rational(0)));
    rows[0][static_cast<std::size_t>(parameters.token)] = 1;
    return std::optional<ExactRows>(std::move(rows));
  };
  return made;
}

}  // namespace speclab
