// A neural language model from a GGUF file, run by libllama on the CPU. Builds without the library can only
// name the type: constructing one throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/distribution/adjustment.hpp"
#include "core/distribution/row.hpp"
#include "sim/text/gguf_tokenizer.hpp"

namespace speclab {

struct GgufOptions {
  /// Maximum number of tokens in a context; 0: as many as the model was trained for, at most 4096.
  std::int32_t context = 0;
  /// Number of tokens in every run. If fixed, shorter runs are padded, so that a row depends on its context
  /// alone, to the last bit. 0: a run has only the new tokens; rows then depend on the other tokens of the
  /// run, by more than rounding if weights are quantised.
  std::int32_t batch = 1;
  std::int32_t threads = 1;  ///< threads of one run
  /// Bytes for cached rows, which save a run when a context occurs again; 0: none are cached.
  std::size_t kept_rows = std::size_t{64} << 20U;

  bool operator==(const GgufOptions&) const = default;
};

/// Satisfies LanguageModel. Copies share weights, caches and rows. Rows are softmax(logits), adjusted. Every
/// calling thread has its own cache, so that a context that extends the last one, or differs from it only
/// near its end, costs only a run of the new tokens. If more threads call at once than sim/parallel has, some
/// wait.
class GgufModel {
 public:
  /// Loads the weights. Throws ModelError.
  GgufModel(std::shared_ptr<const GgufTokenizer> tokenizer, const GgufOptions& options);

  std::int32_t vocab() const;
  /// Throws ModelError for a context that is longer than `max_context`.
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// Announces that the rows after the context's first n tokens, for n from `first` to its length, will be
  /// requested. They are computed together, in one run if they fit into a batch.
  void prepare(std::span<const Token> context, std::size_t first) const;
  /// Returns whether `prepare` saves time. With a batch of 1 it would only compute unused rows.
  bool prepares() const;

  std::size_t max_context() const;

  /// Returns the model with sampling options applied to its logits; none if it has some already.
  std::optional<GgufModel> adjusted(const Adjustment& how) const;

  /// Bytes of the weights, and of the cache of one thread, as far as the file tells them before loading.
  static double cache_bytes(const GgufFacts& facts, const GgufOptions& options);

 private:
  class Engine;
  GgufModel(std::shared_ptr<Engine> engine, const Adjustment& how);

  std::shared_ptr<Engine> engine_;
  Adjustment how_;
};

}  // namespace speclab
