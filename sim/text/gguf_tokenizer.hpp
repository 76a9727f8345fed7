// The tokenizer of a neural model, and other facts in its GGUF file, read by libllama (llama.cpp). Builds
// without the library can only name these types: reading throws.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/token_coder.hpp"

struct llama_model;

namespace speclab {

bool has_libllama();

/// Facts that a file states before its weights are read.
struct GgufFacts {
  std::string architecture;          ///< for example "llama"
  double file_bytes = 0;             ///< bytes of the file, about those of the weights
  std::int32_t trained_context = 0;  ///< context in tokens that the model was trained for
  double cache_bytes = 0;            ///< bytes of the key-value cache for each token of a context, in f32
};

class GgufTokenizer final : public TokenCoder {
 public:
  /// Reads the tokenizer. Throws ModelError, naming the file, if it cannot be read, is not a GGUF file, has
  /// no tokenizer or cannot be run (encoders, diffusion), and always in builds without libllama.
  explicit GgufTokenizer(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }
  const GgufFacts& facts() const { return facts_; }

  std::int32_t size() const override { return size_; }
  /// Returns a token in printable form: a space is U+2581; other white space and bytes that are not UTF-8 are
  /// "<0xNN>".
  std::string text(Token token) const override;
  /// Returns the tokens of a text: names of special tokens are treated as text, and no token is added before
  /// it.
  std::vector<Token> tokens(std::string_view text) const override;
  std::string join(std::span<const Token> tokens) const override;

  /// Returns the tokens of `text` as a user's first message, with the beginning of the answer, by the file's
  /// chat template. Throws ModelError if the file has none, or one that libllama does not know.
  std::vector<Token> chat(std::string_view text) const;

  /// Returns the token that the model expects before every text; none for most byte-level models.
  std::optional<Token> start() const { return start_; }
  /// Returns the token that replaces an empty context, for which no model has a row: the beginning of a text,
  /// or else its end.
  std::optional<Token> for_nothing() const { return for_nothing_; }

 private:
  std::vector<Token> coded(std::string_view text, bool special) const;

  std::filesystem::path file_;
  std::shared_ptr<const llama_model> model_;
  GgufFacts facts_;
  std::int32_t size_ = 0;
  std::optional<Token> start_;
  std::optional<Token> for_nothing_;
};

/// A tokenizer for prompts of a chat: `tokens` is GgufTokenizer::chat, everything else is the tokenizer's.
class ChatCoder final : public TokenCoder {
 public:
  explicit ChatCoder(std::shared_ptr<const GgufTokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {}
  std::int32_t size() const override { return tokenizer_->size(); }
  std::string text(Token token) const override { return tokenizer_->text(token); }
  std::vector<Token> tokens(std::string_view text) const override { return tokenizer_->chat(text); }
  std::string join(std::span<const Token> tokens) const override { return tokenizer_->join(tokens); }

 private:
  std::shared_ptr<const GgufTokenizer> tokenizer_;
};

}  // namespace speclab
