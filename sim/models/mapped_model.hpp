// A neural draft whose tokenizer differs from the target's: it tokenizes the text again, and maps its tokens
// to target tokens with the same text.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"
#include "sim/models/gguf_model.hpp"
#include "sim/text/gguf_tokenizer.hpp"

namespace speclab {

/// Satisfies LanguageModel over the tokens of `seen`. The row after a context is the model's row after the
/// same text in its own tokens: tokens with the same text as a token of `seen` keep their probabilities,
/// normalised; tokens of `seen` without a partner have probability 0. If no partner has positive probability,
/// the row is uniform.
class MappedModel {
 public:
  MappedModel(GgufModel model, std::shared_ptr<const GgufTokenizer> own,
              std::shared_ptr<const GgufTokenizer> seen);

  std::int32_t vocab() const { return seen_->size(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// Returns the number of tokens of `seen` that have a partner.
  std::int32_t partners() const { return partners_; }

 private:
  GgufModel model_;
  std::shared_ptr<const GgufTokenizer> own_;
  std::shared_ptr<const GgufTokenizer> seen_;
  std::vector<Token> partner_;  ///< by token of `seen`; invalid_token without a partner
  std::int32_t partners_ = 0;
};

}  // namespace speclab
