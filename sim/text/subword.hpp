// Subword pieces by SentencePiece (Kudo and Richardson 2018). Builds without the library can name this type
// and nothing more: training throws.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/token.hpp"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace speclab {

/// A trained coder. Id 0 is "<unk>". Copies share it.
class Subword {
 public:
  /// Trains a BPE coder of up to `vocabulary_cap` pieces on the lines of `text`, in memory. The same text
  /// gives the same pieces. Throws ModelError with the library's reason, or when built without it.
  static Subword train(std::string_view text, std::int32_t vocabulary_cap);

  std::int32_t size() const;
  /// The piece, with U+2581 for the space before a word.
  std::string text(Token token) const;
  /// Lines are coded one by one; a line break reads as a space afterwards.
  std::vector<Token> tokens(std::string_view text) const;
  std::string join(std::span<const Token> tokens) const;

 private:
  explicit Subword(std::shared_ptr<const sentencepiece::SentencePieceProcessor> coder);

  std::shared_ptr<const sentencepiece::SentencePieceProcessor> coder_;
};

}  // namespace speclab
