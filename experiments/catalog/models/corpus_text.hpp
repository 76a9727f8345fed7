// Reads the texts that configs name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/text/corpus.hpp"

namespace speclab {

struct CorpusConfig;
class ModelFactory;

/// A corpus and its held-out part. Models are trained on `tokens`; in a corpus with translations, on the
/// translations, each after a separator.
struct CorpusText : Corpus {
  std::vector<std::vector<Token>> documents;  ///< training documents, if the corpus has documents
  std::vector<std::vector<Token>> held_out;
  std::optional<Token> separator;  ///< between a source and its translation
};

/// Throws ConfigError at or below `path` for a corpus that is missing (null), contradictory, or names a
/// missing file.
void check_corpus(const CorpusConfig* corpus, const std::string& path);

/// Reads a corpus with the factory's tokenizers. Throws ConfigError below `path` for unreadable files, and if
/// there are too few documents to hold any out.
CorpusText load_corpus_text(const CorpusConfig& corpus, const std::string& path, ModelFactory& factory);

}  // namespace speclab
