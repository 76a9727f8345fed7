// Registry: models of texts beyond the config's corpus.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "speclab/experiments/format/config_error.hpp"
#include "speclab/experiments/registry.hpp"
#include "speclab/sim/error.hpp"
#include "speclab/sim/sphinx.hpp"

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

std::shared_ptr<const ParallelDocuments> Registry::parallel_documents(const Json& spec,
                                                                      const std::string& path) {
  const auto source = spec.at("source").get<std::string>();
  const auto target = spec.at("target").get<std::string>();
  auto& cached =
      parallel_[fmt::format("{}\n{}\n{}", source, target, spec.at("vocabulary").get<std::int32_t>())];
  if (cached) return cached;
  for (const char* side : {"source", "target"}) {
    const auto file = spec.at(side).get<std::string>();
    if (!std::filesystem::exists(file)) {
      throw ConfigError(
          fmt::format("{}/{}", path, side),
          fmt::format("{}: does not exist; \"scripts/setup.sh tasks\" makes data/help_en.txt and "
                      "data/help_de.txt from Debian packages",
                      file));
    }
  }
  try {
    ParallelDocuments documents =
        load_parallel_documents(source, target, spec.at("vocabulary").get<std::int32_t>());
    cached = std::make_shared<const ParallelDocuments>(std::move(documents));
  } catch (const ModelError& error) {
    throw ConfigError(path + "/target", error.what());
  }
  return cached;
}

Model Registry::build_translation(const Json& spec, const std::string& path) {
  const std::shared_ptr<const ParallelDocuments> text = parallel_documents(spec, path);
  vocabulary_ = std::shared_ptr<const Vocabulary>(text, &text->vocabulary);
  const auto order = spec.at("order").get<int>();
  const auto every = spec.at("hold_out").get<std::size_t>();
  const TranslationOptions options{.lift = spec.at("lift").get<double>(),
                                   .smoothing = spec.at("smoothing").get<double>(),
                                   .coverage = spec.at("coverage").get<double>()};
  const std::int32_t vocab = text->vocabulary.size();
  auto& cached = translations_[fmt::format("{} {} {}", static_cast<const void*>(text.get()), order, every)];
  try {
    if (options.lift == 0) {
      // The n-gram alone, which is decoded faster as what it is.
      const std::vector<std::vector<Token>> train = split_documents(text->documents, every).train;
      auto& language = ngrams_[fmt::format("{} {} {}", static_cast<const void*>(text.get()), order, every)];
      if (!language) language = train_target_language(train, text->separator, vocab, order);
      return Model(language);
    }
    if (!cached) {
      const std::vector<std::vector<Token>> train = split_documents(text->documents, every).train;
      cached = train_translation(train, text->separator, vocab, order);
    }
  } catch (const ModelError& error) {
    throw ConfigError(path, error.what());
  }
  return Model(std::make_shared<const TranslationModel>(cached->with(options)));
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
