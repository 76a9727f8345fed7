#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/format/config_error.hpp"
#include "sim/models/translation_model.hpp"

namespace speclab {

namespace {

struct TranslationParameters : TranslationOptions {
  int order = 3;
};

BuiltModel make_translation(const TranslationParameters& parameters, const std::string& path,
                            const ModelRequest& request) {
  const std::shared_ptr<const CorpusText> text = request.factory.text(request);
  if (!text->separator) throw ConfigError(path, "needs a corpus with a \"translation\"");
  const auto trained = request.factory.shared(
      [](const CorpusConfig& corpus, int order, const SharedPlace& place) {
        const auto whole = place.factory.text(corpus, place.path);
        return *train_translation(whole->documents, *whole->separator, whole->vocabulary.size(), order);
      },
      request.corpus_path, *request.corpus, parameters.order);
  return {Model(trained->with(parameters)), std::shared_ptr<const Vocabulary>(text, &text->vocabulary)};
}

}  // namespace

ModelKind translation_model() {
  return kind_entry<ModelKind, TranslationParameters>(
      "translation",
      "N-gram of translations, lifted towards words that translate the source (IBM Model 1). Contexts are "
      "source words, \"<sep>\", words of the translation. Needs a corpus with a \"translation\".",
      {with_unit(integer_field("order", &TranslationParameters::order, 1, max_ngram_order,
                               "Length of the longest n-gram."),
                 "tokens"),
       field<TranslationParameters>("lift", &TranslationParameters::lift, number(0, 16),
                                    "Exponent of the lift; 0 is the n-gram alone."),
       field<TranslationParameters>("smoothing", &TranslationParameters::smoothing, number_above(0, 1),
                                    "Smoothing of the lexicon by word frequencies."),
       field<TranslationParameters>("coverage", &TranslationParameters::coverage, number(0, 1000),
                                    "How much less a source word counts for each word that translated it.")},
      make_translation);
}

}  // namespace speclab
