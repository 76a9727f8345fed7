#include "experiments/catalog/models/trained_ngram.hpp"

#include <fmt/format.h>

#include <span>

#include "sim/models/kneser_ney.hpp"

namespace speclab {

namespace {

struct Parameters {
  CorpusPart part = CorpusPart::all;
};

}  // namespace

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

ModelKind ngram_of_order(std::string name, std::string sentence, int order) {
  return kind_entry<ModelKind, Parameters>(
      std::move(name), std::move(sentence), {part_field<Parameters>()},
      [order](const Parameters& own, const std::string&, const ModelRequest& request) {
        return trained_ngram(request, order, own.part);
      });
}

}  // namespace speclab
