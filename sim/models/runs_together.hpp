// Several texts decoded at once in one thread, whose model runs are made together: the batch of a server.
// Builds without neural models have no use for it, and `decode_together` throws there.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/token.hpp"

namespace speclab {

/// Logits wanted of one of the texts: after its first n tokens, for every n from `first` to the end.
struct TextRun {
  std::size_t text = 0;  ///< which of them, from 0
  std::span<const Token> tokens;
  std::size_t first = 1;
};

/// A model that makes runs of several texts in one go.
class RunsTogether {
 public:
  RunsTogether() = default;
  RunsTogether(const RunsTogether&) = delete;
  RunsTogether& operator=(const RunsTogether&) = delete;
  virtual ~RunsTogether() = default;

  /// At most one run a text; `texts` are decoded at once in all. May throw.
  virtual void run_together(std::span<const TextRun> runs, std::size_t texts) = 0;
};

/// What the running text of `decode_together` belongs to.
struct TogetherPlace {
  std::size_t text = 0;
  std::size_t texts = 0;  ///< 0: nothing is decoded together here
};
TogetherPlace together_place();

/// Inside `decode_together`: lets the other texts go on until each of them waits for a run or has ended, and
/// returns when the run of this text has been made with theirs by `model`.
void wait_for_run(RunsTogether& model, std::span<const Token> tokens, std::size_t first);

/// Inside `decode_together`: lets the other texts go on first. Elsewhere nothing.
void let_others_go_on();

/// Calls `decode(text)` for each of `texts` texts, all in this thread. A text goes on until it needs a run of
/// a model that makes them together; when all wait, their runs are made, one for each model. What one throws,
/// or a run, ends all and is thrown.
void decode_together(std::size_t texts, const std::function<void(std::size_t text)>& decode);

}  // namespace speclab
