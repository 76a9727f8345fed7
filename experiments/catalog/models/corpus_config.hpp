// Describes, in a config, a text for training models.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/base/format/fields.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

struct CorpusConfig {
  std::string file;
  Tokenization tokenization = Tokenization::words;
  std::int32_t vocabulary = 8000;    ///< largest vocabulary size
  std::int64_t hold_out = 0;         ///< every k-th document is held out; 0: none
  std::int64_t document_tokens = 0;  ///< length of a document; 0: documents end at form feeds
  std::string tokenizer;             ///< a GGUF file with the tokenizer, for Tokenization::gguf and ids
  std::string translation;           ///< a file whose line i translates line i of `file`; empty: none
  std::string prompt_field;  ///< JSON-lines key of the prompt, for texts of prompts and outputs; empty: none
  std::string output_field;  ///< key of the output

  /// Returns true if each document consists of a prompt or source, a separator, and its output or
  /// translation.
  bool in_pairs() const { return !translation.empty() || !output_field.empty(); }

  bool operator==(const CorpusConfig&) const = default;
};
const Typed<CorpusConfig>& corpus_type();

}  // namespace speclab
