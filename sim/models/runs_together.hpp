// Decodes several texts at once in one thread and makes their model runs together, as a server does with a
// batch. Builds without neural models do not need it: `decode_together` throws there.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/token.hpp"

namespace speclab {

/// Logits wanted for one of the texts: after its first n tokens, for every n from `first` to the end.
struct TextRun {
  std::size_t text = 0;  ///< index of the text, from 0
  std::span<const Token> tokens;
  std::size_t first = 1;
};

/// A model that makes the runs of several texts together.
class RunsTogether {
 public:
  RunsTogether() = default;
  RunsTogether(const RunsTogether&) = delete;
  RunsTogether& operator=(const RunsTogether&) = delete;
  virtual ~RunsTogether() = default;

  /// Makes at most one run per text; `texts` texts are decoded together. May throw.
  virtual void run_together(std::span<const TextRun> runs, std::size_t texts) = 0;
};

/// The place of the running text of `decode_together`.
struct TogetherPlace {
  std::size_t text = 0;
  std::size_t texts = 0;  ///< 0: no `decode_together` is running
};
TogetherPlace together_place();

/// Inside `decode_together`: lets the other texts continue until each of them waits for a run or has ended;
/// returns once `model` has made the run of this text together with theirs.
void wait_for_run(RunsTogether& model, std::span<const Token> tokens, std::size_t first);

/// Inside `decode_together`: lets the other texts continue first. Elsewhere it does nothing.
void let_others_go_on();

/// Calls `decode(text)` for each of `texts` texts, all in this thread. A text continues until it needs a run
/// of a model that makes them together; when all wait, their runs are made, one for each model. An exception
/// of a text or of a run ends all and is thrown.
void decode_together(std::size_t texts, const std::function<void(std::size_t text)>& decode);

}  // namespace speclab
