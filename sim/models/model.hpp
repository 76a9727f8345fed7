// Any language model, as one value. Satisfies LanguageModel.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/distribution/transforms.hpp"
#include "core/round/round.hpp"
#include "sim/models/ngram_model.hpp"
#include "sim/models/table_model.hpp"

namespace speclab {

/// A model of any type that satisfies LanguageModel. Copies share the model, which never changes.
class Model {
 public:
  /// Takes a model over. When the type has `memory() const`, that is what `memory` gives.
  template <class M>
  requires(!std::same_as<M, Model> && LanguageModel<M>)
      // NOLINTNEXTLINE(google-explicit-constructor): a model of any type is a Model
      Model(M model)
      : Model(std::make_shared<const M>(std::move(model))) {}

  /// Shares a model.
  template <class M>
  requires(!std::same_as<M, Model> && LanguageModel<M>)
      // NOLINTNEXTLINE(google-explicit-constructor)
      Model(std::shared_ptr<const M> model) {
    if constexpr (std::same_as<M, TableModel>) table_ = model.get();
    if constexpr (std::same_as<M, NgramModel>) ngram_ = model.get();
    held_ = std::make_shared<const Held<M>>(std::move(model));
  }

  std::int32_t vocab() const { return held_->vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    return held_->next(context, scratch);
  }

  /// How many tokens at the end of a context its rows depend on; empty when no number is known to bound it.
  std::optional<int> memory() const { return held_->memory(); }

  /// The stored table, when this is one; for algorithms that read stored rows directly.
  const TableModel* table() const { return table_; }

  /// The n-gram model, when this is one.
  const NgramModel* ngram() const { return ngram_; }

  /// The same row in every context.
  bool context_free() const { return table() != nullptr && table()->order() == 0; }

 private:
  struct Interface {
    Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    virtual ~Interface() = default;
    virtual std::int32_t vocab() const = 0;
    virtual Row next(std::span<const Token> context, std::vector<double>& scratch) const = 0;
    virtual std::optional<int> memory() const = 0;
  };

  template <class M>
  struct Held final : Interface {
    explicit Held(std::shared_ptr<const M> held) : model(std::move(held)) {}
    std::int32_t vocab() const override { return model->vocab(); }
    Row next(std::span<const Token> context, std::vector<double>& scratch) const override {
      return model->next(context, scratch);
    }
    std::optional<int> memory() const override {
      if constexpr (requires(const M& m) {
                      { m.memory() } -> std::convertible_to<std::optional<int>>;
                    }) {
        return model->memory();
      }
      return std::nullopt;
    }
    std::shared_ptr<const M> model;
  };

  std::shared_ptr<const Interface> held_;
  const TableModel* table_ = nullptr;
  const NgramModel* ngram_ = nullptr;
};

/// A model seen through sampling options. Satisfies LanguageModel.
struct AdjustedModel {
  Model base;
  Adjustment how;

  std::int32_t vocab() const { return base.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;
  std::optional<int> memory() const { return base.memory(); }
};

/// (1 - epsilon) * base + epsilon * other. Satisfies LanguageModel.
struct MixtureModel {
  Model base;
  Model other;
  double epsilon;

  std::int32_t vocab() const { return base.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;
  std::optional<int> memory() const;
};

/// `model` with `how` applied to each row: once if rows are stored, else on the fly.
Model adjusted(Model model, const Adjustment& how);

/// The mixture, stored when both are. Vocabularies must agree.
Model mixed(Model base, Model other, double epsilon);

}  // namespace speclab
