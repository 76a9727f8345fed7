// The key-value cache of a neural model for one or several texts, which can run forward and be rolled back.
// Not thread-safe. Include only where SPECLAB_HAS_LLAMA is defined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "core/token.hpp"
#include "sim/models/runs_together.hpp"
#include "sim/text/llama_library.hpp"

namespace speclab {

struct GgufOptions;

class GgufSession {
 public:
  /// Opens a session for `texts` texts of at most `context` tokens each. With several texts the batch is not
  /// fixed. Throws ModelError.
  GgufSession(const std::shared_ptr<llama_model>& model, const GgufOptions& options, std::int32_t context,
              std::size_t texts = 1);

  GgufSession(const GgufSession&) = delete;
  GgufSession& operator=(const GgufSession&) = delete;
  ~GgufSession();

  /// Computes the logits after the first n tokens of each text, for every n from `first` to the end; 0 <
  /// first <= tokens.size(). Reuses the cached beginning of a text; if anything must be computed, later
  /// cached tokens are dropped. Texts share runs. With a fixed batch every run has exactly that many tokens;
  /// padding at its end is dropped. Throws ModelError.
  void run(std::span<const TextRun> runs);
  /// Returns whether `run` would compute nothing.
  bool knows(const TextRun& run) const;

  /// Returns the logits after the first `length` tokens of the text's last `run`; `length` is at least its
  /// `first`.
  const std::vector<float>& logits(std::size_t length, std::size_t text = 0) const;

  std::thread::id user;    ///< the last thread that used it
  std::uint64_t used = 0;  ///< time of last use, a counter
  bool busy = false;

 private:
  struct KnownLogits {
    std::size_t length = 0;  ///< number of tokens before these logits
    std::vector<float> values;
  };
  struct Free {
    void operator()(llama_context* context) const { llama_free(context); }
  };

  struct CachedText {
    std::vector<Token> tokens;
    std::vector<KnownLogits> known;  ///< ascending lengths, at most tokens.size()

    const KnownLogits* find(std::size_t length) const;
  };

  static std::size_t first_missing(const CachedText& cached, const TextRun& run);
  void keep(std::size_t text, std::size_t length, std::size_t first);
  void decode(std::span<const TextRun> runs);
  void forget_all();

  std::shared_ptr<llama_model> model_;
  std::unique_ptr<llama_context, Free> context_;
  std::size_t vocab_;
  std::size_t max_;  ///< maximum of tokens of a run
  bool fixed_;       ///< every run has `max_` tokens
  llama_batch batch_;
  std::vector<CachedText> texts_;
  std::vector<std::vector<float>> spare_;
};

}  // namespace speclab
