// Texts of a neural model: its key-value cache, run forward and rolled back. Not for several threads at once.
// Include only where SPECLAB_HAS_LLAMA is defined.
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
  /// For so many texts, of at most `context` tokens each; of several the batch is not fixed. Throws
  /// ModelError.
  GgufSession(const std::shared_ptr<llama_model>& model, const GgufOptions& options, std::int32_t context,
              std::size_t texts = 1);

  GgufSession(const GgufSession&) = delete;
  GgufSession& operator=(const GgufSession&) = delete;
  ~GgufSession();

  /// Makes the logits after the first n tokens of each text known for every n from `first` to the end; 0 <
  /// first <= tokens.size(). What the cache holds of the beginning is not computed again; where anything has
  /// to be computed, what follows it there is forgotten. Texts share runs. With a fixed batch every run has
  /// exactly so many tokens, the last ones of no meaning and forgotten again. Throws ModelError.
  void run(std::span<const TextRun> runs);
  /// Whether that would compute nothing.
  bool knows(const TextRun& run) const;

  /// After the first `length` tokens of the text's last `run`; `length` at least its `first`.
  const std::vector<float>& logits(std::size_t length, std::size_t text = 0) const;

  std::thread::id user;    ///< whom it served last
  std::uint64_t used = 0;  ///< when, as a count
  bool busy = false;

 private:
  struct KnownLogits {
    std::size_t length = 0;  ///< tokens that they come after
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
  std::size_t max_;  ///< tokens of a run
  bool fixed_;       ///< every run has `max_` tokens
  llama_batch batch_;
  std::vector<CachedText> texts_;
  std::vector<std::vector<float>> spare_;
};

}  // namespace speclab
