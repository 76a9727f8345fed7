#include "experiments/catalog/models/trained_ngram.hpp"

#include <fmt/format.h>

#include <span>

#include "sim/models/kneser_ney.hpp"

namespace speclab {

BuiltModel trained_ngram(const ModelRequest& request, int order, CorpusPart part) {
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

}  // namespace speclab
