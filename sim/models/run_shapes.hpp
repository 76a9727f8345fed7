// Computes the rows of one text in runs of different shapes (tokens per run). The order of sums then differs,
// so that rows differ by rounding, and by more if weights are quantised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/token.hpp"
#include "sim/text/gguf_tokenizer.hpp"

namespace speclab {

/// The shape of the runs over a text.
struct TextRuns {
  std::int32_t tokens = 1;  ///< tokens of one run, at least 1
  /// true: the prompt is one run, and later runs have `tokens` tokens, as in a server. false: all runs have
  /// `tokens` tokens, the last one padded, as with the option "batch" of a model.
  bool prompt_at_once = false;
  /// For a fixed shape only: number of first tokens of the prompt that are computed separately, which shifts
  /// all later tokens within their runs.
  std::int32_t ahead = 0;

  bool operator==(const TextRuns&) const = default;
};

/// Logits after the text's first n tokens, for n from `prompt` to its length minus 1.
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
