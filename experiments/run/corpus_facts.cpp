#include "experiments/run/corpus_facts.hpp"

#include <algorithm>

#include "experiments/catalog/models/corpus_text.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/config/corpus_config.hpp"
#include "experiments/config/result_fields.hpp"

namespace speclab {

SPECLAB_RESULT(CorpusFacts, "corpus_facts", file, tokens, held_out_tokens, vocabulary, unknown_share);

CorpusFacts corpus_facts(const CorpusConfig& corpus, ModelFactory& factory) {
  const auto text = factory.text(corpus, "/corpus");
  CorpusFacts facts{.file = corpus.file,
                    .tokens = text->tokens.size(),
                    .held_out_tokens = 0,
                    .vocabulary = text->vocabulary.size(),
                    .unknown_share = {}};
  for (const std::vector<Token>& document : text->held_out) facts.held_out_tokens += document.size();
  // Words and pieces have it first; bytes, and the tokens of neural models, have none.
  if (text->vocabulary.size() > 0 && text->vocabulary.text(0) == "<unk>" && !text->tokens.empty()) {
    const auto unknown = std::count(text->tokens.begin(), text->tokens.end(), Token{0});
    facts.unknown_share = static_cast<double>(unknown) / static_cast<double>(text->tokens.size());
  }
  return facts;
}

}  // namespace speclab
