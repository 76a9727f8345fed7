// The model kinds that a config can name: one file per kind, one line in all_models.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/distribution/transforms.hpp"
#include "experiments/base/format/family.hpp"
#include "experiments/base/support/exact_rows.hpp"
#include "sim/models/model.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

class ModelFactory;
struct CorpusConfig;
struct ModelKind;

/// Sampling options: temperature, top_k, top_p.
const Typed<Adjustment>& sampling_type();

/// What a model may need beyond its own parameters.
struct ModelRequest {
  ModelFactory& factory;                      ///< for other models, and for what several models share
  const CorpusConfig* corpus;                 ///< the training text; null when the config has none
  std::string corpus_path;                    ///< JSON pointer of the corpus, for errors
  const Model* target;                        ///< what a draft may refer to; null for a target
  std::optional<std::int32_t> default_vocab;  ///< of drafts that state none; without it the target's
};

/// What a config says of a model that is not built yet; empty where only the built model knows.
struct ModelFacts {
  std::optional<std::int32_t> vocab = {};
  std::optional<bool> stored_rows = {};  ///< whether it will be a table
  std::optional<bool> words = {};        ///< whether its tokens will have words
  std::optional<bool> ngrams = {};       ///< whether its rows will come from counted n-grams
};

/// What the facts of a model may depend on beside its own parameters.
struct FactsRequest {
  std::optional<ModelFacts> target = {};           ///< what a draft may refer to; none for a target
  std::optional<std::int32_t> default_vocab = {};  ///< as in ModelRequest, like the next
  const CorpusConfig* corpus = nullptr;
  std::string corpus_path = {};
};

/// A model and the words of its tokens.
struct BuiltModel {
  Model model;
  std::shared_ptr<const Vocabulary> vocabulary = nullptr;  ///< null without text
};

/// One kind of model. `make` builds it without sampling options; it throws ConfigError at or below
/// selected.path, or ModelError, which is then reported at selected.path.
struct ModelKind : KindInfo {
  /// Keys that every model has.
  struct Common {
    std::optional<Adjustment> sampling;  ///< without it the config's own
  };
  std::function<BuiltModel(const SelectedKind& selected, const ModelRequest& request)> make;
  /// Asked before `make`, and for every model of a run before the first is built. Throws ConfigError, as
  /// `make` does, for all that can be refused without building. Empty for kinds of which nothing is known so
  /// early.
  std::function<ModelFacts(const SelectedKind& selected, const FactsRequest& request)> facts = nullptr;
  /// The rows as the config writes them, exactly, for proofs; none for rows that are computed. `target` has
  /// the target's rows when they are known. Empty for kinds that never have any.
  std::function<std::optional<ExactRows>(const SelectedKind& selected, std::size_t vocab,
                                         const std::optional<ExactRows>& target)>
      exact_rows = nullptr;
  /// Whether a draft of these parameters refers to the target; empty for kinds that never do.
  std::function<bool(const SelectedKind& selected)> needs_target = nullptr;
};

using ModelConfig = Selected<ModelKind>;

/// Every model kind; tests and other programs may add kinds.
Family<ModelKind>& model_family();

}  // namespace speclab
