// Computes the rows of one text in runs with different numbers of tokens. Sums then have another order, so
// that rows differ by rounding, and by more if weights are quantised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/token.hpp"
#include "sim/text/gguf_tokenizer.hpp"

namespace speclab {

/// The runs in which a text goes through the model.
struct TextRuns {
  std::int32_t tokens = 1;  ///< tokens of one run, at least 1
  /// true: the prompt is one run, and then each run has `tokens` tokens, as in a server. false: every run has
  /// that shape, also those of the prompt, and the last one is filled up, as with the option "batch" of a
  /// model.
  bool prompt_at_once = false;
  /// Used with a fixed shape only: the number of tokens at the prompt's beginning that are computed before
  /// the rest, so that all later tokens have other places in their runs.
  std::int32_t ahead = 0;

  bool operator==(const TextRuns&) const = default;
};

/// Logits after the text's first `prompt` tokens, after one more, and so on up to its last token but one.
using LogitRows = std::vector<std::vector<float>>;

/// A file's weights, loaded once; safe for several threads.
class RunShapes {
 public:
  /// Throws ModelError.
  explicit RunShapes(std::shared_ptr<const GgufTokenizer> tokenizer);

  /// Computes the logits without anything cached from other texts; 0 < prompt < text.size(). Caches are f32
  /// and flash attention is off, as in GgufModel. Throws ModelError.
  LogitRows logits(std::span<const Token> text, std::size_t prompt, const TextRuns& shape) const;

 private:
  struct Weights;
  std::shared_ptr<const Weights> weights_;
};

}  // namespace speclab
