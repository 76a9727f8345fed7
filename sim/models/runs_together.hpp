// Decodes several texts at once in one thread and batches their model runs, as a server does. In builds
// without neural models `decode_together` throws.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/polymorphic.hpp"
#include "core/token.hpp"

namespace speclab {

/// Logits wanted for one of the texts: after its first n tokens, for every n from `first` to the end.
struct TextRun {
  std::size_t text = 0;  ///< index of the text, from 0
  std::span<const Token> tokens;
  std::size_t first = 1;
};

/// A model that makes the runs of several texts together.
class RunsTogether : public Polymorphic {
 public:
  /// Makes at most one run per text; `texts` texts are decoded together. May throw.
  virtual void run_together(std::span<const TextRun> runs, std::size_t texts) = 0;
};

/// The index of the running text of `decode_together`.
struct TogetherPlace {
  std::size_t text = 0;
  std::size_t texts = 0;  ///< 0: no `decode_together` is running
};
TogetherPlace together_place();

/// Inside `decode_together`: suspends this text until all others wait for a run or have ended; returns after
/// `model` made this text's run together with theirs.
void wait_for_run(RunsTogether& model, std::span<const Token> tokens, std::size_t first);

/// Inside `decode_together`: yields to the other texts. Elsewhere it does nothing.
void let_others_go_on();

/// Calls `decode(text)` for each of `texts` texts, all in this thread. A text continues until it needs a run
/// of a RunsTogether model; when all wait, each model makes one run for all. An exception of a text or of a
/// run ends all and is rethrown.
void decode_together(std::size_t texts, const std::function<void(std::size_t text)>& decode);

}  // namespace speclab
