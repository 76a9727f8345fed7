#include "experiments/catalog/models/corpus_config.hpp"

namespace speclab {

const Typed<CorpusConfig>& corpus_type() {
  using P = CorpusConfig;
  static const auto type = object<P>(
      "corpus", "Text that n-gram models are trained on.",
      {required(field(
           "file", &P::file, input_file(),
           "Path of a text file, relative to the working directory or else to the config's folder: UTF-8, or anything if tokens are bytes. In a folder, each file is a document.")),
       field(
           "tokenization", &P::tokenization,
           choice<Tokenization>({{"bytes", Tokenization::bytes},
                                 {"words", Tokenization::words},
                                 {"subword", Tokenization::pieces},
                                 {"gguf", Tokenization::gguf},
                                 {"ids", Tokenization::ids}}),
           "The unit of tokens. With \"ids\" the file is a recording (docs/recordings.md), CSV or JSON lines, in the tokenizer's tokens."),
       with_unit(
           integer_field(
               "vocabulary", &P::vocabulary, 2, 1 << 20,
               "Largest vocabulary. Rarer words become <unk>; for subwords it is the size for which SentencePiece is trained."),
           "tokens"),
       integer_field(
           "hold_out", &P::hold_out, 0, 1e9,
           "Every k-th document is held out, and models are trained on the others; 0 holds out none."),
       with_unit(
           integer_field("document_tokens", &P::document_tokens, 0, 1e9,
                         "Cuts the text into documents of this length; 0: documents end at form feeds."),
           "tokens"),
       field("tokenizer", &P::tokenizer, input_file(),
             "A GGUF file with the tokenizer, for tokenization \"gguf\" and \"ids\"."),
       field("translation", &P::translation, input_file(),
             "A text whose line i translates line i of \"file\". A document is then a line, a separator and "
             "its translation, and n-grams are trained on translations."),
       field("prompt_field", &P::prompt_field, text(),
             "The file holds JSON lines of prompts and outputs; this key is the prompt's, with dots into "
             "objects and lists (\"messages.0.content\"). A document is then a prompt, a separator and its "
             "output, and n-grams are trained on outputs."),
       field("output_field", &P::output_field, text(), "The key of the output.")});
  return type;
}

}  // namespace speclab
