// Converts text to tokens and back by a library: SentencePiece, or the tokenizer of a neural model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/token.hpp"

namespace speclab {

class TokenCoder {
 public:
  TokenCoder() = default;
  TokenCoder(const TokenCoder&) = default;
  TokenCoder& operator=(const TokenCoder&) = default;
  virtual ~TokenCoder() = default;

  virtual std::int32_t size() const = 0;
  /// Returns one token in printable form, without white space.
  virtual std::string text(Token token) const = 0;
  /// Returns the tokens of a text. Throws ModelError for a text that cannot be coded.
  virtual std::vector<Token> tokens(std::string_view text) const = 0;
  /// Returns the text of these tokens, as bytes.
  virtual std::string join(std::span<const Token> tokens) const = 0;
};

}  // namespace speclab
