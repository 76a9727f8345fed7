// The tokenizer of a neural model, and what else its GGUF file says of it, read by libllama (llama.cpp).
// Builds without the library can name these types and nothing more: reading throws.
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

/// Built with libllama.
bool has_libllama();

/// What a file says before its weights are read.
struct GgufFacts {
  std::string architecture;          ///< "llama"
  double file_bytes = 0;             ///< about those of the weights
  std::int32_t trained_context = 0;  ///< tokens
  double cache_bytes = 0;            ///< of the key-value cache for each token of a context, in f32
};

class GgufTokenizer final : public TokenCoder {
 public:
  /// Throws ModelError, naming the file: it cannot be read, is not a GGUF file, has no tokenizer or cannot be
  /// run (encoders, diffusion), and always when built without libllama.
  explicit GgufTokenizer(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }
  const GgufFacts& facts() const { return facts_; }

  std::int32_t size() const override { return size_; }
  /// A space is U+2581; other white space and bytes that are not UTF-8 are "<0xNN>".
  std::string text(Token token) const override;
  /// Of plain text: names of special tokens in it are text, and nothing is put before it.
  std::vector<Token> tokens(std::string_view text) const override;
  std::string join(std::span<const Token> tokens) const override;

  /// The tokens of `text` as the first message of a user, with the beginning of the answer, by the file's
  /// chat template. Throws ModelError when the file has none, or one that libllama does not know.
  std::vector<Token> chat(std::string_view text) const;

  /// What the model wants to see before every text; none for most byte-level models.
  std::optional<Token> start() const { return start_; }
  /// What stands for an empty context, of which no model has a row: the beginning of a text, or else its end.
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

/// The user's side of a conversation: `tokens` is GgufTokenizer::chat, all else the tokenizer's own.
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
