#include "experiments/catalog/models/model_factory.hpp"

#include <algorithm>
#include <filesystem>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

namespace {

FactsRequest known_of(const ModelRequest& request) {
  FactsRequest known{
      .default_vocab = request.default_vocab, .corpus = request.corpus, .corpus_path = request.corpus_path};
  if (request.target != nullptr) {
    known.target = facts_of(BuiltModel{*request.target});
    known.target->words.reset();  // they belong to the target's vocabulary, not to its model
  }
  return known;
}

BuiltModel make_model(const ModelConfig& config, const ModelRequest& request) {
  return at_path(config.path, [&] { return config.entry().make(config, request); });
}

}  // namespace

std::shared_ptr<const CorpusText> ModelFactory::text(const CorpusConfig& corpus, const std::string& path) {
  return shared([](const CorpusConfig& given,
                   const SharedPlace& place) { return load_corpus_text(given, place.path, place.factory); },
                path, corpus);
}

std::shared_ptr<const CorpusText> ModelFactory::text(const ModelRequest& request) {
  check_corpus(request.corpus, request.corpus_path);
  return text(*request.corpus, request.corpus_path);
}

BuiltModel ModelFactory::model(const ModelConfig& config, const ModelRequest& request,
                               const RequestLaw& config_sampling) {
  check_overlap(config, sampling_of(config, config_sampling));
  BuiltModel built = unadjusted(config, request);
  return {with_sampling(std::move(built.model), sampling_of(config, config_sampling), request.prompt,
                        sampling_path(config)),
          std::move(built.vocabulary)};
}

BuiltModel ModelFactory::prompted(const ModelConfig& config, const ModelRequest& request,
                                  const RequestLaw& config_sampling) {
  const RequestLaw& law = sampling_of(config, config_sampling);
  if (!law.remembers()) return model(config, request, config_sampling);
  check_overlap(config, law);
  BuiltModel built = unadjusted(config, request);
  check_sampling(law, built.model.vocab(), sampling_path(config));
  built.remembered = law;
  return built;
}

BuiltModel ModelFactory::unadjusted(const ModelConfig& config, const ModelRequest& request) {
  facts_of(config, known_of(request));
  return make_model(config, request);
}

const RequestLaw& sampling_of(const ModelConfig& config, const RequestLaw& config_sampling) {
  return config.sampling ? *config.sampling : config_sampling;
}

std::string sampling_path(const ModelConfig& config) {
  return config.sampling ? config.path + "/sampling" : "/sampling";
}

void refuse_sampling(const ModelConfig& part) {
  if (part.sampling)
    throw ConfigError(part.path + "/sampling", "only the whole model has sampling options; leave it out");
}

void check_overlap(const ModelConfig& draft, const RequestLaw& law) {
  if (law.identity() || !draft.entry().fixes_overlap || !draft.entry().fixes_overlap(draft)) return;
  throw ConfigError(
      draft.path + "/alpha",
      "holds for rows without sampling options, which change it; leave \"sampling\" out, or give \"epsilon\"");
}

ModelFacts facts_of(const ModelConfig& config, const FactsRequest& request) {
  if (const auto& facts = config.entry().facts)
    return at_path(config.path, [&] { return facts(config, request); });
  std::vector<std::string> files;
  config.entry().parameters->add_input_files(config.parameters.get(), files);
  const auto missing = [](const std::string& file) { return !std::filesystem::exists(file); };
  // Trying to read a missing file takes no time, and its reader gives the best advice.
  ModelFactory fresh;
  if (std::any_of(files.begin(), files.end(), missing)) make_model(config, {fresh, nullptr, "", nullptr, {}});
  return {};
}

ModelFacts facts_of(const BuiltModel& built) {
  return {built.model.vocab(), built.model.table() != nullptr, built.vocabulary != nullptr};
}

std::optional<std::int32_t> vocab_of(const std::optional<std::int32_t>& vocab, const std::string& path,
                                     const FactsRequest& request) {
  if (vocab) return vocab;
  if (request.default_vocab) return request.default_vocab;
  if (request.target) return request.target->vocab;
  throw ConfigError(path + "/vocab", "missing; a target states its vocabulary size");
}

std::int32_t vocab_of(const std::optional<std::int32_t>& vocab, const std::string& path,
                      const ModelRequest& request) {
  return *vocab_of(vocab, path, known_of(request));
}

void check_same_words(const Vocabulary* target, const Vocabulary* draft, const std::string& path) {
  if (target == nullptr || draft == nullptr || target == draft) return;
  for (Token id = 0; id < target->size(); ++id) {
    if (target->text(id) == draft->text(id)) continue;
    throw ConfigError(
        path, "token {} is \"{}\" here and \"{}\" in the target; the models must share one vocabulary", id,
        draft->text(id), target->text(id));
  }
}

std::optional<ExactRows> written_rows(const ModelConfig& config, const RequestLaw& config_sampling,
                                      std::size_t vocab, const std::optional<ExactRows>& target) {
  if (!sampling_of(config, config_sampling).identity() || !config.entry().exact_rows) return std::nullopt;
  return config.entry().exact_rows(config, vocab, target);
}

}  // namespace speclab
