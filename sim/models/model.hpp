// Holds any language model as one value. Satisfies LanguageModel.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/distribution/adjustment.hpp"
#include "core/polymorphic.hpp"
#include "core/round/round.hpp"
#include "sim/models/ngram_model.hpp"
#include "sim/models/table_model.hpp"

namespace speclab {

/// A model that computes several rows together in less time than in sequence. `prepare(context, first)`
/// announces that the rows after the context's first n tokens, for n from `first` to its length, will be
/// requested. `prepares()` returns whether that saves time.
template <class M>
concept PreparedModel = requires(const M& model, std::span<const Token> context, std::size_t first) {
  model.prepare(context, first);
  { model.prepares() } -> std::convertible_to<bool>;
};

struct AdjustedModel;

/// A model of any type that satisfies LanguageModel. Copies share the model, which never changes.
class Model {
 public:
  /// Takes ownership of a model. `memory`, `max_context`, `prepare` and `adjusted` call those of the model's
  /// type, if it has them.
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
    if constexpr (std::same_as<M, AdjustedModel>) sampled_ = model.get();
    if constexpr (PreparedModel<M>) prepares_ = model->prepares();
    held_ = std::make_shared<const Held<M>>(std::move(model));
  }

  std::int32_t vocab() const { return held_->vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    return held_->next(context, scratch);
  }

  /// Calls the model's `prepare` (PreparedModel), if it has one.
  void prepare(std::span<const Token> context, std::size_t first) const {
    if (prepares_) held_->prepare(context, first);
  }
  bool prepares() const { return prepares_; }

  /// Returns the number of tokens at the end of a context on which its rows depend; empty if no bound is
  /// known.
  std::optional<int> memory() const { return held_->memory(); }

  /// Returns the maximum number of tokens of a context; empty if there is no limit.
  std::optional<std::size_t> max_context() const { return held_->max_context(); }

  /// Returns the model with sampling options applied, if it can do better than adjusting its rows.
  std::optional<Model> adjusted(const Adjustment& how) const { return held_->adjusted(how); }

  /// Returns the stored table if this is one; for algorithms that read stored rows directly.
  const TableModel* table() const { return table_; }

  /// Returns the n-gram model if this is one.
  const NgramModel* ngram() const { return ngram_; }

  /// Returns the model and its sampling options if this is an AdjustedModel.
  const AdjustedModel* sampled() const { return sampled_; }

  /// Returns whether the row is the same in every context.
  bool context_free() const { return table() != nullptr && table()->order() == 0; }

 private:
  struct Interface : Polymorphic {
    virtual std::int32_t vocab() const = 0;
    virtual Row next(std::span<const Token> context, std::vector<double>& scratch) const = 0;
    virtual std::optional<int> memory() const = 0;
    virtual std::optional<std::size_t> max_context() const = 0;
    virtual void prepare(std::span<const Token> context, std::size_t first) const = 0;
    virtual std::optional<Model> adjusted(const Adjustment& how) const = 0;
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
    std::optional<std::size_t> max_context() const override {
      if constexpr (requires(const M& m) { m.max_context(); }) return model->max_context();
      return std::nullopt;
    }
    void prepare([[maybe_unused]] std::span<const Token> context,
                 [[maybe_unused]] std::size_t first) const override {
      if constexpr (PreparedModel<M>) model->prepare(context, first);
    }
    std::optional<Model> adjusted([[maybe_unused]] const Adjustment& how) const override {
      if constexpr (requires(const M& m) { m.adjusted(how); }) {
        if (auto made = model->adjusted(how)) return Model(*std::move(made));
      }
      return std::nullopt;
    }
    std::shared_ptr<const M> model;
  };

  std::shared_ptr<const Interface> held_;
  const TableModel* table_ = nullptr;
  const NgramModel* ngram_ = nullptr;
  const AdjustedModel* sampled_ = nullptr;
  bool prepares_ = false;
};

/// A model with sampling options applied to its rows. Satisfies LanguageModel.
struct AdjustedModel {
  Model base;
  Adjustment how;

  std::int32_t vocab() const { return base.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;
  std::optional<int> memory() const { return base.memory(); }
  std::optional<std::size_t> max_context() const { return base.max_context(); }
  void prepare(std::span<const Token> context, std::size_t first) const { base.prepare(context, first); }
  bool prepares() const { return base.prepares(); }
};

/// The mixture (1 - epsilon) * base + epsilon * other. Satisfies LanguageModel.
struct MixtureModel {
  Model base;
  Model other;
  double epsilon;

  std::int32_t vocab() const { return base.vocab(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;
  std::optional<int> memory() const;
  std::optional<std::size_t> max_context() const;
  void prepare(std::span<const Token> context, std::size_t first) const;
  bool prepares() const { return base.prepares() || other.prepares(); }
};

/// Returns `model` with `how` applied to its rows: once if rows are stored, else on each call.
Model adjusted(Model model, const Adjustment& how);

/// Returns the mixture, stored if both are. Vocabularies must agree.
Model mixed(Model base, Model other, double epsilon);

}  // namespace speclab
