// Text as tokens: bytes, words, subword pieces, or those of a neural model, written as text or as ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/token.hpp"
#include "sim/text/text_file.hpp"
#include "sim/text/token_coder.hpp"

namespace speclab {

enum class Tokenization { bytes, words, pieces, gguf, ids };

/// Words, pieces and a neural model's tokens are printed as they stand and must be UTF-8; bytes may be
/// anything.
constexpr Encoding encoding_of(Tokenization tokenization) {
  return tokenization == Tokenization::bytes ? Encoding::any : Encoding::utf8;
}

/// Cuts text into words. White space separates; a run of one ASCII punctuation character is a word ("--",
/// "..."), but an apostrophe or hyphen between letters or digits stays inside ("don't", "well-bred"). Views
/// into `text`.
std::vector<std::string_view> split_words(std::string_view text);

/// Which text each token id stands for. Copies are independent.
class Vocabulary {
 public:
  /// The 256 byte values.
  static Vocabulary bytes();
  /// The strings given, distinct and not empty, in their order. Words outside the list are "<unk>", when it
  /// is in the list.
  static Vocabulary words(std::vector<std::string> list);
  /// The tokens of a coder: pieces, or those of a neural model.
  static Vocabulary coded(Tokenization tokenization, std::shared_ptr<const TokenCoder> coder);

  Tokenization tokenization() const { return tokenization_; }
  std::int32_t size() const { return static_cast<std::int32_t>(texts_.size()); }

  /// One token as printed, never with white space in it: bytes other than visible ASCII are "<0xNN>".
  const std::string& text(Token token) const { return texts_[static_cast<std::size_t>(token)]; }

  /// Throws ModelError, naming the word, for a word outside a list without "<unk>", and as the coder does.
  std::vector<Token> tokens(std::string_view text) const;

  /// Readable text. Bytes that are not UTF-8 appear as \xNN; words get spaces where English has them; the
  /// rest is the coder's business.
  std::string join(std::span<const Token> tokens) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  Vocabulary(Tokenization tokenization, std::vector<std::string> texts)
      : tokenization_(tokenization), texts_(std::move(texts)) {}
  std::optional<Token> find(std::string_view word) const;

  Tokenization tokenization_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, Token, Hash, std::equal_to<>> ids_;  // words only
  std::shared_ptr<const TokenCoder> coder_;                            // of pieces, or of a neural model
};

struct Corpus {
  Vocabulary vocabulary;
  std::vector<Token> tokens;
};

/// Words: id 0 is "<unk>", then the vocabulary_cap - 1 most frequent words, ties in byte order; cap 0 keeps
/// every word. Pieces: at most vocabulary_cap pieces. Bytes: the cap is ignored. Throws ModelError when the
/// text has no tokens, or a cap is too small (below 2 for words).
Corpus make_corpus(std::string_view text, Tokenization tokenization, std::int32_t vocabulary_cap);

/// In tokens that are known beforehand. Throws ModelError when the text has none.
Corpus make_corpus(std::string_view text, Vocabulary vocabulary);

/// Reads a text file. Errors are those of `make_corpus`, or about reading, and name the file.
Corpus load_corpus(const std::filesystem::path& file, Tokenization tokenization, std::int32_t vocabulary_cap);
Corpus load_corpus(const std::filesystem::path& file, Vocabulary vocabulary);

}  // namespace speclab
