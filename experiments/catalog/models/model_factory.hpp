// From configured models to models. Corpora, trained models and model files are shared between all that one
// factory builds, so one factory serves all cells of a run.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "experiments/catalog/models/corpus_text.hpp"
#include "experiments/catalog/models/model_kind.hpp"

namespace speclab {

class ModelFactory {
 public:
  ModelFactory() = default;
  ModelFactory(const ModelFactory&) = delete;
  ModelFactory& operator=(const ModelFactory&) = delete;

  /// The text of a corpus. Throws ConfigError below `path`.
  std::shared_ptr<const CorpusText> text(const CorpusConfig& corpus, const std::string& path);

  /// The text of the request's corpus. Throws ConfigError when it has none.
  std::shared_ptr<const CorpusText> text(const ModelRequest& request);

  /// A model with its sampling options: its own, or the config's. Throws ConfigError.
  BuiltModel model(const ModelConfig& config, const ModelRequest& request, const Adjustment& config_sampling);

  /// A model without sampling options. Throws ConfigError.
  BuiltModel unadjusted(const ModelConfig& config, const ModelRequest& request);

  /// What several models share, made at its first use: `key` stands for all that it depends on, the kind of
  /// what is shared included. Nothing is kept when `make` throws.
  template <class T>
  std::shared_ptr<const T> shared(const std::string& key,
                                  const std::function<std::shared_ptr<const T>()>& make) {
    const auto found = shared_.find(key);
    if (found != shared_.end()) return std::any_cast<std::shared_ptr<const T>>(found->second);
    std::shared_ptr<const T> made = make();
    shared_.emplace(key, made);
    return made;
  }

 private:
  Corpora corpora_;
  std::map<std::string, std::any> shared_;
};

/// Sampling options of a model: its own, or the config's.
const Adjustment& sampling_of(const ModelConfig& config, const Adjustment& config_sampling);

/// The vocabulary size of a model that states `vocab` or leaves it out: then the request's default, or the
/// target's. Throws ConfigError below `path`.
std::int32_t vocab_or_target(const std::optional<std::int32_t>& vocab, const std::string& path,
                             const ModelRequest& request);

/// Throws ConfigError at `path` when two vocabularies give an id different words. Null stands for a model
/// without text, which goes with any.
void check_same_words(const std::shared_ptr<const Vocabulary>& first,
                      const std::shared_ptr<const Vocabulary>& second, const std::string& path);

/// The text that stands for all that a corpus's tokens depend on.
std::string corpus_key(const CorpusConfig& corpus);

}  // namespace speclab
