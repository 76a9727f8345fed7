// The model kinds that a config can name. Each has an entry and a line in all_models.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analysis/exact/rational.hpp"
#include "experiments/base/format/family.hpp"
#include "experiments/catalog/models/sampling.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

class Model;
class ModelFactory;
struct BuiltModel;
struct CorpusConfig;
struct ModelKind;

/// Largest difference of a row's sum from 1. Sums of 2^17 floats differ by less; logits, weights and rows
/// that lack a token by more.
inline constexpr double row_tolerance = 1e-3;

/// Inputs of building a model besides its own parameters.
struct ModelRequest {
  ModelFactory& factory;                      ///< builds other models, and objects that models share
  const CorpusConfig* corpus;                 ///< training text; null if the config has none
  std::string corpus_path;                    ///< JSON pointer of the corpus, for errors
  const Model* target;                        ///< the target of a draft; null for a target
  std::optional<std::int32_t> default_vocab;  ///< vocabulary of a draft that states none; empty: the target's
  std::optional<std::size_t> prompt = {};     ///< tokens before the first emitted one; empty: not known
};

/// Properties of a model that may be known before it is built; empty if not.
struct ModelFacts {
  std::optional<std::int32_t> vocab = {};
  std::optional<bool> stored_rows = {};  ///< whether it will be a table
  std::optional<bool> words = {};        ///< whether its tokens will have words
  std::optional<bool> ngrams = {};       ///< whether its rows will come from counted n-grams
};

/// Inputs of a model's facts besides its own parameters.
struct FactsRequest {
  std::optional<ModelFacts> target = {};           ///< the target of a draft; empty for a target
  std::optional<std::int32_t> default_vocab = {};  ///< as in ModelRequest, like the members below
  const CorpusConfig* corpus = nullptr;
  std::string corpus_path = {};
};

/// One kind of model. `make` builds it without sampling options, and throws ConfigError at or below
/// selected.path, or ModelError, which is then reported there.
struct ModelKind : KindInfo {
  /// Keys that all models share.
  struct Common {
    std::optional<RequestLaw> sampling;  ///< default: the config's options
  };
  std::function<BuiltModel(const SelectedKind& selected, const ModelRequest& request)> make;
  /// Returns the facts; called for every model of a run before the first is built. Throws ConfigError for
  /// everything that `make` can refuse without building. Empty: none are known so early.
  std::function<ModelFacts(const SelectedKind& selected, const FactsRequest& request)> facts = nullptr;
  /// Returns the rows exactly as the config writes them, for proofs; empty for computed rows. `target` holds
  /// the target's rows if known. Empty for kinds that never write rows.
  std::function<std::optional<ExactRows>(const SelectedKind& selected, std::size_t vocab,
                                         const std::optional<ExactRows>& target)>
      exact_rows = nullptr;
  /// Returns true if a draft with these parameters is made from the target; empty: never.
  std::function<bool(const SelectedKind& selected)> needs_target = nullptr;
  /// Returns true if a draft with these parameters has a fixed overlap with the target, which sampling
  /// options would change; empty: never.
  std::function<bool(const SelectedKind& selected)> fixes_overlap = nullptr;
};

using ModelConfig = Selected<ModelKind>;

/// Returns the family of all model kinds; tests and other programs may add some.
Family<ModelKind>& model_family();

}  // namespace speclab
