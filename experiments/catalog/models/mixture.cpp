#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/distribution/number.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

namespace {

/// The base of a mixture: a model, or the target of a draft.
struct MixtureBase {
  std::optional<ModelConfig> model;  ///< empty: the target
};

struct MixtureParameters {
  MixtureBase base;
  ModelConfig other;
  std::optional<double> epsilon;
  std::optional<double> alpha;
};

/// Reads "target", or a model.
class MixtureBaseType final : public Type {
 public:
  explicit MixtureBaseType(TypePtr model) : model_(std::move(model)) {}
  void read(const Json& json, const std::string& path, void* value) const override {
    auto& base = *static_cast<MixtureBase*>(value);
    base.model.reset();
    if (json == "target") return;
    if (!json.is_object()) reject(path, json, words());
    model_->read(json, path, &base.model.emplace());
  }
  void write(const void* value, Json& json) const override {
    const auto& base = *static_cast<const MixtureBase*>(value);
    if (base.model) {
      model_->write(&*base.model, json);
    } else {
      json = "target";
    }
  }
  std::string words() const override { return "\"target\" or a model"; }
  void schema(Json& out) const override {
    Json model = Json::object();
    model_->schema(model);
    out["oneOf"] = Json::array({Json{{"const", "target"}}, std::move(model)});
  }
  const Type* below(const std::string& step) const override { return model_->below(step); }
  void add_input_files(const void* value, std::vector<std::string>& files) const override {
    const auto& base = *static_cast<const MixtureBase*>(value);
    if (base.model) model_->add_input_files(&*base.model, files);
  }
  const FamilyBase* family() const override { return model_->family(); }

 private:
  TypePtr model_;
};

/// Returns the facts of a mixture of two models. Throws ConfigError if they cannot be mixed.
ModelFacts mixed_facts(const MixtureParameters& parameters, const std::string& path, const ModelFacts& base,
                       const ModelFacts& other) {
  if (base.vocab && other.vocab && *base.vocab != *other.vocab) {
    throw ConfigError(path + "/other", "has a vocabulary of {}; its base has {}", *other.vocab, *base.vocab);
  }
  const auto either = [](const std::optional<bool>& a, const std::optional<bool>& b, bool decides) {
    return a == decides || b == decides ? decides : a && b ? std::optional(!decides) : std::nullopt;
  };
  const std::optional<bool> stored = either(base.stored_rows, other.stored_rows, false);
  if (parameters.alpha && stored == false) {
    throw ConfigError(
        path + "/alpha",
        "needs stored rows on both sides (table, zipf, dirichlet, uniform, point, markov); give \"epsilon\"");
  }
  return {base.vocab ? base.vocab : other.vocab, stored, either(base.words, other.words, true)};
}

ModelFacts mixture_facts(const SelectedKind& selected, const FactsRequest& request) {
  const auto& parameters = selected.as<MixtureParameters>();
  if (!parameters.base.model && !request.target) {
    throw ConfigError(selected.path + "/base", "\"target\" has a meaning in a draft only; give a model");
  }
  if (parameters.base.model) refuse_sampling(*parameters.base.model);
  refuse_sampling(parameters.other);
  if (parameters.alpha.has_value() == parameters.epsilon.has_value())
    throw ConfigError(selected.path, "a mixture needs either \"epsilon\" or \"alpha\"");
  const ModelFacts base = parameters.base.model ? facts_of(*parameters.base.model, request) : *request.target;
  FactsRequest beside_base = request;
  beside_base.target = base;
  beside_base.default_vocab.reset();
  return mixed_facts(parameters, selected.path, base, facts_of(parameters.other, beside_base));
}

BuiltModel make_mixture(const MixtureParameters& parameters, const std::string& path,
                        const ModelRequest& request) {
  const BuiltModel base = parameters.base.model ? request.factory.unadjusted(*parameters.base.model, request)
                                                : BuiltModel{*request.target};
  ModelRequest beside_base = request;
  beside_base.target = &base.model;
  beside_base.default_vocab.reset();
  const BuiltModel other = request.factory.unadjusted(parameters.other, beside_base);
  mixed_facts(parameters, path, facts_of(base), facts_of(other));
  const auto& vocabulary = other.vocabulary ? other.vocabulary : base.vocabulary;
  if (parameters.epsilon) return {mixed(base.model, other.model, *parameters.epsilon), vocabulary};
  return {
      at_path(path + "/alpha",
              [&] { return mixed_to_alpha(*base.model.table(), *other.model.table(), *parameters.alpha); }),
      vocabulary};
}

std::optional<ExactRows> exact_mixture(const SelectedKind& selected, std::size_t vocab,
                                       const std::optional<ExactRows>& target) {
  const auto& parameters = selected.as<MixtureParameters>();
  if (!parameters.epsilon) return std::nullopt;
  const auto base = parameters.base.model ? written_rows(*parameters.base.model, {}, vocab, target) : target;
  const auto other = written_rows(parameters.other, {}, vocab, target);
  if (!base || !other) return std::nullopt;
  const Rational epsilon(decimal_fraction(*parameters.epsilon));
  ExactRows rows;
  for (std::size_t context = 0; context < std::max(base->size(), other->size()); ++context) {
    rows.emplace_back();
    for (std::size_t id = 0; id < vocab; ++id) {
      rows.back().push_back((1 - epsilon) * (*base)[context % base->size()][id] +
                            epsilon * (*other)[context % other->size()][id]);
    }
  }
  return rows;
}

}  // namespace

ModelKind mixture_model() {
  const Typed<ModelConfig> model = kind_of(model_family());
  const Typed<MixtureBase> base{std::make_shared<const MixtureBaseType>(model.type)};
  ModelKind made = kind_entry<ModelKind, MixtureParameters>(
      "mixture",
      "(1-epsilon)*base + epsilon*other; \"alpha\" instead of \"epsilon\" sets the overlap with the base exactly, in every context of stored rows.",
      {field("base", &MixtureParameters::base, base, "The model to mix with: \"target\", or a model."),
       required(field("other", &MixtureParameters::other, model, "The model mixed in.")),
       field("epsilon", &MixtureParameters::epsilon, number(0, 1), "Weight of \"other\"."),
       field("alpha", &MixtureParameters::alpha, number(0, 1), "Overlap with the base.")},
      make_mixture);
  made.facts = mixture_facts;
  made.exact_rows = exact_mixture;
  made.needs_target = [](const SelectedKind& selected) {
    return !selected.as<MixtureParameters>().base.model;
  };
  made.fixes_overlap = [](const SelectedKind& selected) {
    const auto& own = selected.as<MixtureParameters>();
    return !own.base.model && own.alpha;
  };
  return made;
}

}  // namespace speclab
