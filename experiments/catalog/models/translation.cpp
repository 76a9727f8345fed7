#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/translation_model.hpp"

namespace speclab {

ModelKind translation_model() {
  struct P : TranslationOptions {
    int order = 3;
  };
  ModelKind made = kind_entry<ModelKind, P>(
      "translation",
      "N-gram of translations, lifted towards words that translate the source (IBM Model 1). Contexts are "
      "source words, \"<sep>\", words of the translation. Needs a corpus with a \"translation\".",
      {with_unit(integer_field("order", &P::order, 1, max_ngram_order, "Length of the longest n-gram."),
                 "tokens"),
       field<P>("lift", &P::lift, number(0, 16), "Exponent of the lift; 0 is the n-gram alone."),
       field<P>("smoothing", &P::smoothing, number_above(0, 1),
                "Smoothing of the lexicon by word frequencies."),
       field<P>("coverage", &P::coverage, number(0, 1000),
                "How much less a source word counts for each word that translated it.")},
      [](const P& own, const std::string& path, const ModelRequest& request) {
        const std::shared_ptr<const CorpusText> text = request.factory.text(request);
        if (!text->separator) throw ConfigError(path, "needs a corpus with a \"translation\"");
        const auto trained = request.factory.shared(
            [](const CorpusConfig& corpus, int order, const SharedPlace& place) {
              const auto whole = place.factory.text(corpus, place.path);
              return *train_translation(whole->documents, *whole->separator, whole->vocabulary.size(), order);
            },
            request.corpus_path, *request.corpus, own.order);
        return BuiltModel{Model(trained->with(own)),
                          std::shared_ptr<const Vocabulary>(text, &text->vocabulary)};
      });
  made.facts = [](const SelectedKind&, const FactsRequest& request) {
    check_corpus(request.corpus, request.corpus_path);
    return ModelFacts{.stored_rows = false, .words = true, .ngrams = false};
  };
  return made;
}

}  // namespace speclab
