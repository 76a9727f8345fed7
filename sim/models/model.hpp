// Any model the laboratory knows, as one value: a closed set, held in a variant. Satisfies LanguageModel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/distribution/transforms.hpp"
#include "core/round/round.hpp"
#include "sim/models/cached_model.hpp"
#include "sim/models/copy_drafter.hpp"
#include "sim/models/ngram_model.hpp"
#include "sim/models/table_model.hpp"
#include "sim/models/translation_model.hpp"

namespace speclab {

class Model;

/// (1 - epsilon) * base + epsilon * other for models whose rows are not stored.
struct MixtureModel {
  std::shared_ptr<const Model> base;
  std::shared_ptr<const Model> other;
  double epsilon;

  std::int32_t vocab() const;
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;
};

/// A model seen through sampling options.
struct AdjustedModel {
  std::shared_ptr<const Model> base;
  Adjustment how;

  std::int32_t vocab() const;
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;
};

class Model {
 public:
  using Kind = std::variant<TableModel, std::shared_ptr<const NgramModel>, CopyDrafter, MixtureModel,
                            AdjustedModel, CachedModel, std::shared_ptr<const TranslationModel>>;

  // NOLINTNEXTLINE(google-explicit-constructor): a model of any kind is a Model
  Model(Kind kind) : kind_(std::move(kind)) {}

  std::int32_t vocab() const;
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// How many tokens at the end of a context its rows depend on; empty when no number bounds it, as for the
  /// copy drafter.
  std::optional<int> memory() const;

  /// The stored table, when this is one.
  const TableModel* table() const { return std::get_if<TableModel>(&kind_); }

  /// The n-gram model, when this is one.
  const NgramModel* ngram() const {
    const auto* model = std::get_if<std::shared_ptr<const NgramModel>>(&kind_);
    return model != nullptr ? model->get() : nullptr;
  }

  /// The same row in every context.
  bool context_free() const { return table() != nullptr && table()->order() == 0; }

 private:
  Kind kind_;
};

/// `model` with `how` applied to each row: once if rows are stored, else on the fly.
Model adjusted(Model model, const Adjustment& how);

/// The mixture, stored when both are. Vocabularies must agree.
Model mixed(Model base, Model other, double epsilon);

}  // namespace speclab
