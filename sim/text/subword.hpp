// Subword pieces by SentencePiece (Kudo and Richardson 2018). Builds without the library can only name this
// type: training throws.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/token_coder.hpp"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace speclab {

/// A trained coder. Id 0 is "<unk>". Copies share it.
class Subword final : public TokenCoder {
 public:
  /// Trains a BPE coder of up to `vocabulary_cap` pieces on the lines of `text`, in memory. The same text
  /// gives the same pieces. Throws ModelError with the library's reason, or if built without it.
  static Subword train(std::string_view text, std::int32_t vocabulary_cap);

  std::int32_t size() const override;
  /// Returns the piece, with U+2581 for the space before a word.
  std::string text(Token token) const override;
  /// Codes lines one by one; a line break is read back as a space.
  std::vector<Token> tokens(std::string_view text) const override;
  std::string join(std::span<const Token> tokens) const override;

 private:
  explicit Subword(std::shared_ptr<const sentencepiece::SentencePieceProcessor> coder);

  std::shared_ptr<const sentencepiece::SentencePieceProcessor> coder_;
};

}  // namespace speclab
