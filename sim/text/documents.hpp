// Texts of many documents, each a sequence of tokens: what is decoded starts from the front of a document,
// and models are never evaluated on documents that they were trained on.
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

/// Splits at form feeds, wherever they stand; documents of white space alone are left out. The vocabulary is
/// that of `make_corpus` over the whole text. Throws ModelError as `make_corpus` does.
Documents make_documents(std::string_view text, Tokenization tokenization, std::int32_t vocabulary_cap);

/// In tokens that are known beforehand.
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

/// Line i of `target` translates line i of `source`; pairs with an empty side are left out. One vocabulary of
/// words over both, vocabulary_cap as in `make_corpus`, to which the separator comes. Throws ModelError when
/// the numbers of lines differ, or as `make_corpus` does.
ParallelDocuments make_parallel_documents(std::string_view source, std::string_view target,
                                          std::int32_t vocabulary_cap);

/// Reads two text files. Errors name the files.
ParallelDocuments load_parallel_documents(const std::filesystem::path& source,
                                          const std::filesystem::path& target, std::int32_t vocabulary_cap);

/// One past the first `token` of a document, which is where a prompt that ends with it ends; the document's
/// length when it has none.
std::size_t position_after(std::span<const Token> document, Token token);

struct DocumentSplit {
  std::vector<std::vector<Token>> train;
  std::vector<std::vector<Token>> held_out;
};

/// Holds out every `every`-th document: the ones at every - 1, 2 * every - 1, ... Throws ModelError when
/// `every` is below 2 or above the number of documents, since one side would be empty.
DocumentSplit split_documents(std::vector<std::vector<Token>> documents, std::size_t every);

/// One stream of all documents, each with `separator` before it: for training models that shall know where
/// documents begin and end.
std::vector<Token> separated(std::span<const std::vector<Token>> documents, Token separator);

/// One stream of all documents, end to end.
std::vector<Token> joined(std::span<const std::vector<Token>> documents);

}  // namespace speclab
