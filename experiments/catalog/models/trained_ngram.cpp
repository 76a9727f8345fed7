#include "experiments/catalog/models/trained_ngram.hpp"

#include <fmt/format.h>

#include <span>

#include "sim/models/kneser_ney.hpp"

namespace speclab {

BuiltModel trained_ngram(ModelRequest request, int order, const TrainingText& training,
                         const std::string& path) {
  if (training.corpus) {
    request.corpus = &*training.corpus;
    request.corpus_path = path + "/corpus";
  }
  const CorpusPart part = training.part;
  const std::shared_ptr<const CorpusText> text = request.factory.text(request);
  const std::string key =
      fmt::format("ngram {} {} {}", order, static_cast<int>(part), corpus_key(*request.corpus));
  const auto model = request.factory.shared<NgramModel>(key, [&] {
    std::span<const Token> tokens(text->tokens);
    if (part == CorpusPart::first_half) tokens = tokens.first(tokens.size() / 2);
    if (part == CorpusPart::second_half) tokens = tokens.subspan(tokens.size() / 2);
    return train_kneser_ney(tokens, text->vocabulary.size(), order);
  });
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
