// Text that models are trained on, as a config names it.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/config/fields.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

struct CorpusConfig {
  std::string file;
  Tokenization tokenization = Tokenization::words;
  std::int32_t vocabulary = 8000;    ///< most tokens
  std::int64_t hold_out = 0;         ///< every k-th document is held out; 0: none
  std::int64_t document_tokens = 0;  ///< length of a document; 0: documents end at form feeds
  std::string tokenizer;             ///< a GGUF file whose tokens are used; for Tokenization::gguf
  std::string translation;           ///< a file whose line i translates line i of `file`; empty: none

  bool operator==(const CorpusConfig&) const = default;
};
const Typed<CorpusConfig>& corpus_type();

}  // namespace speclab
