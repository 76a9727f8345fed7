// The texts that configs name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/text/corpus.hpp"

namespace speclab {

struct CorpusConfig;
class ModelFactory;

/// A corpus, and what was held out of it. `tokens` is what models are trained on: of a corpus with
/// translations the translations, each after a separator.
struct CorpusText : Corpus {
  std::vector<std::vector<Token>> documents;  ///< those trained on, where there are documents
  std::vector<std::vector<Token>> held_out;
  std::optional<Token> separator;  ///< between a source and its translation
};

/// Throws ConfigError at or below `path` for a corpus that is missing (null), says what does not go together,
/// or names a file that is not there.
void check_corpus(const CorpusConfig* corpus, const std::string& path);

/// Reads the text of a corpus; `factory` has tokenizers. Throws ConfigError below `path` for files that
/// cannot be read and for documents too few to hold any out.
CorpusText load_corpus_text(const CorpusConfig& corpus, const std::string& path, ModelFactory& factory);

}  // namespace speclab
