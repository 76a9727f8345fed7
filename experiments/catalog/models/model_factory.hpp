// Builds models from configs. Models of one factory share corpora, trained models and files, so one factory
// serves all cells of a run.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "experiments/catalog/models/corpus_config.hpp"
#include "experiments/catalog/models/corpus_text.hpp"
#include "experiments/catalog/models/model_kind.hpp"
#include "sim/models/model.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

class ModelFactory;

/// A model and the words of its tokens.
struct BuiltModel {
  Model model;
  std::shared_ptr<const Vocabulary> vocabulary = nullptr;  ///< null without text
  RequestLaw remembered = {};  ///< its sampling options, if they are not in `model`
};

/// The user of something that models share.
struct SharedPlace {
  const std::string& path;  ///< JSON pointer, for errors
  ModelFactory& factory;
};

/// Builds and shares models. Only one thread may use it at a time.
class ModelFactory {
 public:
  ModelFactory() = default;
  ModelFactory(const ModelFactory&) = delete;
  ModelFactory& operator=(const ModelFactory&) = delete;

  /// Returns the text of a corpus. Throws ConfigError below `path`.
  std::shared_ptr<const CorpusText> text(const CorpusConfig& corpus, const std::string& path);

  /// Returns the text of the request's corpus. Throws ConfigError if there is none.
  std::shared_ptr<const CorpusText> text(const ModelRequest& request);

  /// Returns a model with its sampling options, by default the config's. Throws ConfigError.
  BuiltModel model(const ModelConfig& config, const ModelRequest& request, const RequestLaw& config_sampling);

  /// Does the same for prompts of several lengths: options that remember, which need the length, are returned
  /// beside the model.
  BuiltModel prompted(const ModelConfig& config, const ModelRequest& request,
                      const RequestLaw& config_sampling);

  /// Returns a model without sampling options. Throws ConfigError.
  BuiltModel unadjusted(const ModelConfig& config, const ModelRequest& request);

  /// Returns an object that models share. The first call with these `parts` makes it by `make(parts...,
  /// where)`; later calls with equal parts return the same object. `make` must capture nothing, so that its
  /// result depends on the parts alone; it uses `where` for errors and for shared objects of its own. If
  /// `make` throws, nothing is stored.
  template <class Make, class... Parts>
  auto shared(Make make, const std::string& path, const Parts&... parts) {
    static_assert(std::is_empty_v<Make>, "captures what is not in the parts");
    using T = std::invoke_result_t<Make, const Parts&..., const SharedPlace&>;
    using Known = std::vector<std::pair<std::tuple<Parts...>, std::shared_ptr<const T>>>;
    const std::type_index kind = typeid(std::pair<Make, Known>);
    if (const auto found = shared_.find(kind); found != shared_.end()) {
      for (const auto& [of, made] : *std::any_cast<const std::shared_ptr<Known>&>(found->second)) {
        if (of == std::tie(parts...)) return made;
      }
    }
    auto made = std::make_shared<const T>(make(parts..., SharedPlace{path, *this}));
    std::any& known = shared_[kind];
    if (!known.has_value()) known = std::make_shared<Known>();
    std::any_cast<const std::shared_ptr<Known>&>(known)->emplace_back(std::tuple<Parts...>(parts...), made);
    return made;
  }

 private:
  std::map<std::type_index, std::any> shared_;
};

/// Returns the sampling options of a model, by default the config's.
const RequestLaw& sampling_of(const ModelConfig& config, const RequestLaw& config_sampling);
/// Returns the JSON pointer of these options, for errors.
std::string sampling_path(const ModelConfig& config);
/// Throws ConfigError for sampling options of a part of another model, because only the whole model's are
/// read.
void refuse_sampling(const ModelConfig& part);
/// Throws ConfigError for a draft with a fixed overlap (ModelKind::fixes_overlap) if the options of target or
/// draft change rows.
void check_overlap(const ModelConfig& draft, const RequestLaw& law);

/// Returns the facts of a model that is not built yet (ModelKind::facts). Throws ConfigError.
ModelFacts facts_of(const ModelConfig& config, const FactsRequest& request);
/// Returns the facts of a built model.
ModelFacts facts_of(const BuiltModel& built);

/// Returns a model's vocabulary size: its own `vocab`, else the request's default, else the target's, which
/// may be unknown. Throws ConfigError below `path` if there is none.
std::optional<std::int32_t> vocab_of(const std::optional<std::int32_t>& vocab, const std::string& path,
                                     const FactsRequest& request);
/// Returns the vocabulary size, as above, of a model that is built now.
std::int32_t vocab_of(const std::optional<std::int32_t>& vocab, const std::string& path,
                      const ModelRequest& request);
/// Adds `facts` to the kind of a table of P::vocab tokens that have no words.
template <class P>
ModelKind stored_rows_kind(ModelKind kind) {
  kind.facts = [](const SelectedKind& selected, const FactsRequest& request) {
    return ModelFacts{vocab_of(selected.as<P>().vocab, selected.path, request), true, false};
  };
  return kind;
}

/// The key "vocab" of such models.
inline constexpr double max_model_vocab = 1 << 20;
template <class P>
Field vocab_field() {
  return with_unit(integer_field("vocab", &P::vocab, 1, max_model_vocab,
                                 "Vocabulary size; a draft may leave it out and takes the target's."),
                   "tokens");
}

/// Throws ConfigError at `path` if two vocabularies of one size differ in a word. Null (a model without text)
/// fits any.
void check_same_words(const Vocabulary* target, const Vocabulary* draft, const std::string& path);

/// Returns a model's rows exactly as its config writes them, for proofs; empty for computed rows and for
/// models with sampling options. For a draft, `target` holds the target's rows if known.
std::optional<ExactRows> written_rows(const ModelConfig& config, const RequestLaw& config_sampling,
                                      std::size_t vocab, const std::optional<ExactRows>& target);

}  // namespace speclab
