// Texts of many documents, each a sequence of tokens: decoding starts at the beginning of a document, and
// models are never evaluated on documents that they were trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/token.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {

struct Documents {
  Vocabulary vocabulary;
  std::vector<std::vector<Token>> documents;
};

/// Splits a text into documents at form feeds; documents of white space alone are left out. The vocabulary is
/// that of `make_corpus` over the whole text. Throws ModelError as `make_corpus` does.
Documents make_documents(std::string_view text, Tokenization tokenization, std::int32_t vocabulary_cap);

/// Does the same with a given vocabulary.
Documents make_documents(std::string_view text, Vocabulary vocabulary);

/// Reads a text file. Errors are those of `make_documents`, or about reading, and name the file.
Documents load_documents(const std::filesystem::path& file, Tokenization tokenization,
                         std::int32_t vocabulary_cap);
Documents load_documents(const std::filesystem::path& file, Vocabulary vocabulary);

/// Sentences or paragraphs in two languages: each document holds source tokens, `separator`, target tokens.
struct ParallelDocuments {
  Vocabulary vocabulary;  ///< words of both languages
  std::vector<std::vector<Token>> documents;
  Token separator;  ///< "<sep>", the last id
};

/// Makes documents in which line i of `target` translates line i of `source`; pairs with an empty side are
/// left out. Both share one vocabulary of words, with vocabulary_cap as in `make_corpus`, and the separator
/// is added to it. Throws ModelError if the numbers of lines differ, or as `make_corpus` does.
ParallelDocuments make_parallel_documents(std::string_view source, std::string_view target,
                                          std::int32_t vocabulary_cap);

/// Reads two text files. Errors name the files.
ParallelDocuments load_parallel_documents(const std::filesystem::path& source,
                                          const std::filesystem::path& target, std::int32_t vocabulary_cap);

/// Returns one past the first `token` of a document, the end of a prompt that ends with it; the document's
/// length if it has none.
std::size_t position_after(std::span<const Token> document, Token token);

struct DocumentSplit {
  std::vector<std::vector<Token>> train;
  std::vector<std::vector<Token>> held_out;
};

/// Holds out every `every`-th document: those at every - 1, 2 * every - 1, ... Throws ModelError if `every`
/// is below 2 or above the number of documents, since one side would be empty.
DocumentSplit split_documents(std::vector<std::vector<Token>> documents, std::size_t every);

/// Returns one stream of all documents, each with `separator` before it, for training models that must know
/// where documents begin and end.
std::vector<Token> separated(std::span<const std::vector<Token>> documents, Token separator);

/// Returns one stream of all documents, end to end.
std::vector<Token> joined(std::span<const std::vector<Token>> documents);

}  // namespace speclab
