// One sequence of a neural model: its key-value cache, run forward and rolled back. Not for several threads
// at once. Include only where SPECLAB_HAS_LLAMA is defined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "core/token.hpp"
#include "sim/text/llama_library.hpp"

namespace speclab {

struct GgufOptions;

class GgufSession {
 public:
  /// `context`: tokens that a sequence may have. Throws ModelError.
  GgufSession(const std::shared_ptr<llama_model>& model, const GgufOptions& options, std::int32_t context);

  GgufSession(const GgufSession&) = delete;
  GgufSession& operator=(const GgufSession&) = delete;
  ~GgufSession();

  /// Makes the logits after the first n tokens known for every n from `first` to the end; 0 < first <=
  /// tokens.size(). What the cache holds of the beginning is not computed again; where anything has to be
  /// computed, what follows it there is forgotten. With a fixed batch every run has exactly so many tokens,
  /// the last ones of no meaning and forgotten again. Throws ModelError.
  void run(std::span<const Token> tokens, std::size_t first);

  /// After the first `length` tokens of the last `run`; `length` at least its `first`.
  const std::vector<float>& logits(std::size_t length) const;

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

  void keep(std::size_t length, std::size_t first);
  void decode(std::span<const Token> tokens, std::size_t first);
  bool knows(std::size_t length) const;

  std::shared_ptr<llama_model> model_;
  std::unique_ptr<llama_context, Free> context_;
  std::size_t vocab_;
  std::size_t most_;  ///< tokens of a run
  bool fixed_;        ///< every run has `most_` tokens
  llama_batch batch_;
  std::vector<Token> cached_;
  std::vector<KnownLogits> known_;  ///< ascending lengths, at most cached_.size()
  std::vector<std::vector<float>> spare_;
};

}  // namespace speclab
