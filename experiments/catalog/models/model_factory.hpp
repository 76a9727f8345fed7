// From configured models to models. Corpora, trained models and model files are shared between all that one
// factory builds, so one factory serves all cells of a run.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "experiments/catalog/models/corpus_text.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "experiments/config/corpus_config.hpp"

namespace speclab {

/// Used by one thread at a time.
class ModelFactory {
 public:
  ModelFactory() = default;
  ModelFactory(const ModelFactory&) = delete;
  ModelFactory& operator=(const ModelFactory&) = delete;

  /// The text of a corpus. Throws ConfigError below `path`.
  std::shared_ptr<const CorpusText> text(const CorpusConfig& corpus, const std::string& path);

  /// The text of the request's corpus. Throws ConfigError when there is none.
  std::shared_ptr<const CorpusText> text(const ModelRequest& request);

  /// A model with its sampling options: its own, or else the config's. Throws ConfigError.
  BuiltModel model(const ModelConfig& config, const ModelRequest& request, const Adjustment& config_sampling);

  /// A model without sampling options. Throws ConfigError.
  BuiltModel unadjusted(const ModelConfig& config, const ModelRequest& request);

  /// What several models share, made by `make()` at its first use. `key` stands for everything that it
  /// depends on, and begins with what it is: one key is used with one type. Nothing is stored when `make`
  /// throws.
  template <class T, class Make>
  std::shared_ptr<const T> shared(const std::string& key, const Make& make) {
    const auto found = shared_.find(key);
    if (found != shared_.end()) return std::any_cast<const std::shared_ptr<const T>&>(found->second);
    const auto made = std::make_shared<const T>(make());
    shared_.emplace(key, made);
    return made;
  }

 private:
  std::map<std::string, std::any> shared_;
};

/// Sampling options of a model: its own, or else the config's.
const Adjustment& sampling_of(const ModelConfig& config, const Adjustment& config_sampling);

/// The vocabulary size of a model that may leave out `vocab`: then the request's default, or the target's.
/// Throws ConfigError below `path` when there is none.
std::int32_t vocab_of(const std::optional<std::int32_t>& vocab, const std::string& path,
                      const ModelRequest& request);

/// The key "vocab" of such models.
inline constexpr double most_model_vocab = 1 << 20;
template <class P>
Field vocab_field() {
  return with_unit(integer_field("vocab", &P::vocab, 1, most_model_vocab,
                                 "Vocabulary size; a draft may leave it out and takes the target's."),
                   "tokens");
}

/// Throws ConfigError at `path` when two vocabularies of one size have different words for an id. Null stands
/// for a model without text, which goes with any.
void check_same_words(const Vocabulary* target, const Vocabulary* draft, const std::string& path);

/// Text that stands for everything that the tokens of a corpus depend on.
std::string corpus_key(const CorpusConfig& corpus);

/// The rows of a model as its config writes them, exactly, for proofs; none for rows that are computed and
/// for models with sampling options. `target` has the target's rows, when the model is a draft and they are
/// known.
std::optional<ExactRows> written_rows(const ModelConfig& config, const Adjustment& config_sampling,
                                      std::size_t vocab, const std::optional<ExactRows>& target);

}  // namespace speclab
