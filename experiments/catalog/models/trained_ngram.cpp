#include "experiments/catalog/models/trained_ngram.hpp"

#include <span>

#include "sim/models/kneser_ney.hpp"

namespace speclab {

BuiltModel trained_ngram(ModelRequest request, int order, const TrainingText& training,
                         const std::string& path) {
  if (training.corpus) {
    request.corpus = &*training.corpus;
    request.corpus_path = path + "/corpus";
  }
  const std::shared_ptr<const CorpusText> text = request.factory.text(request);
  const auto model = request.factory.shared(
      [](const CorpusConfig& corpus, CorpusPart of, int longest, const SharedPlace& place) {
        const auto whole = place.factory.text(corpus, place.path);
        std::span<const Token> tokens(whole->tokens);
        if (of == CorpusPart::first_half) tokens = tokens.first(tokens.size() / 2);
        if (of == CorpusPart::second_half) tokens = tokens.subspan(tokens.size() / 2);
        return train_kneser_ney(tokens, whole->vocabulary.size(), longest);
      },
      request.corpus_path, *request.corpus, training.part, order);
  return {Model(model), std::shared_ptr<const Vocabulary>(text, &text->vocabulary)};
}

ModelKind ngram_of_order(std::string name, std::string sentence, int order) {
  return kind_entry<ModelKind, TrainingText>(
      std::move(name), std::move(sentence), training_fields<TrainingText>(),
      [order](const TrainingText& own, const std::string& path, const ModelRequest& request) {
        return trained_ngram(request, order, own, path);
      });
}

}  // namespace speclab
