// Registry: models of texts beyond the config's corpus.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "experiments/format/config_error.hpp"
#include "experiments/registry.hpp"
#include "sim/error.hpp"
#include "sim/models/sphinx.hpp"

namespace speclab {

Model Registry::build_cached(const Json& spec, const std::string& path, const Json& config,
                             const Model* target) {
  Model base = build_unadjusted(spec.at("base"), path + "/base", config, target);
  return Model(CachedModel(std::make_shared<const Model>(std::move(base)),
                           {.weight = spec.at("weight").get<double>(),
                            .half_match = spec.at("half_match").get<double>(),
                            .unigram_weight = spec.at("unigram_weight").get<double>(),
                            .smoothing = spec.at("smoothing").get<double>(),
                            .max_match = spec.at("max_match").get<std::int32_t>(),
                            .window = spec.at("window").get<std::int32_t>()}));
}

Model Registry::build_translation(const Json& spec, const std::string& path, const Json& config) {
  const std::shared_ptr<const CorpusText> text = corpus(config);
  if (!text->separator) {
    throw ConfigError(path, "needs a corpus with a \"translation\"");
  }
  vocabulary_ = std::shared_ptr<const Vocabulary>(text, &text->vocabulary);
  const auto order = spec.at("order").get<int>();
  auto& cached = translations_[fmt::format("{} {}", order, config.at("corpus").dump())];
  if (!cached) {
    try {
      cached = train_translation(text->documents, *text->separator, text->vocabulary.size(), order);
    } catch (const ModelError& error) {
      throw ConfigError(path, error.what());
    }
  }
  return Model(std::make_shared<const TranslationModel>(
      cached->with({.lift = spec.at("lift").get<double>(),
                    .smoothing = spec.at("smoothing").get<double>(),
                    .coverage = spec.at("coverage").get<double>()})));
}

Model Registry::build_sphinx(const Json& spec, const std::string& path) {
  const auto file = spec.at("file").get<std::string>();
  const auto order = spec.at("order").get<int>();
  const std::string key = fmt::format("{} {}", file, order);
  if (!ngrams_.contains(key)) {
    try {
      SphinxModel read = read_sphinx(file, order);
      arpa_words_[key] = std::make_shared<const Vocabulary>(std::move(read.vocabulary));
      ngrams_[key] = std::make_shared<const NgramModel>(std::move(read.model));
    } catch (const ModelError& error) {
      const bool missing = !std::filesystem::exists(file);
      throw ConfigError(path + "/file", missing ? fmt::format("{}; \"scripts/setup.sh pocketsphinx\" makes "
                                                              "data/en-us.lm.bin from a Debian package",
                                                              error.what())
                                                : error.what());
    }
  }
  vocabulary_ = arpa_words_[key];
  return Model(ngrams_[key]);
}

}  // namespace speclab
