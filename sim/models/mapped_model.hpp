// A neural draft with another tokenizer than the target's: its text is coded again, and its tokens stand for
// those of the target that are written as they are.
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
/// same text in its own tokens, of which those written as one of `seen` keep their probabilities, normalised:
/// tokens of `seen` without a partner have none. Where no partner has any, the row is uniform.
class MappedModel {
 public:
  MappedModel(GgufModel model, std::shared_ptr<const GgufTokenizer> own,
              std::shared_ptr<const GgufTokenizer> seen);

  std::int32_t vocab() const { return seen_->size(); }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// Tokens of `seen` that have a partner.
  std::int32_t partners() const { return partners_; }

 private:
  GgufModel model_;
  std::shared_ptr<const GgufTokenizer> own_;
  std::shared_ptr<const GgufTokenizer> seen_;
  std::vector<Token> partner_;  ///< by token of `seen`; invalid_token without one
  std::int32_t partners_ = 0;
};

}  // namespace speclab
