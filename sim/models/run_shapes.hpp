// The rows of one text when a neural model computes it in runs of other numbers of tokens. Sums have another
// order there, so that rows differ by rounding, and by more where weights are quantised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/token.hpp"
#include "sim/text/gguf_tokenizer.hpp"

namespace speclab {

/// How a text goes through the model.
struct TextRuns {
  std::int32_t tokens = 1;  ///< of a run, at least 1
  /// The prompt in one run and then so many tokens a run, as a server does it. Otherwise every run has that
  /// shape, the prompt's as well, and the last one is filled up: the option "batch" of a model.
  bool prompt_at_once = false;
  /// Of a fixed shape: tokens of the prompt's beginning that are computed before the rest, by which others
  /// stand at other places of their runs.
  std::int32_t ahead = 0;

  bool operator==(const TextRuns&) const = default;
};

/// Logits after the text's first `prompt` tokens, after one more, and so on but for its last token.
using LogitRows = std::vector<std::vector<float>>;

/// The weights of a file, loaded once; safe for several threads.
class RunShapes {
 public:
  /// Throws ModelError.
  explicit RunShapes(std::shared_ptr<const GgufTokenizer> tokenizer);

  /// Computed anew, so that nothing is left of other texts; 0 < prompt < text.size(). Caches are f32 and
  /// there is no flash attention, as in GgufModel. Throws ModelError.
  LogitRows logits(std::span<const Token> text, std::size_t prompt, const TextRuns& shape) const;

 private:
  struct Weights;
  std::shared_ptr<const Weights> weights_;
};

}  // namespace speclab
