// A neural language model from a GGUF file, run by libllama on the CPU. Builds without the library can name
// the type and nothing more: making one throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"
#include "core/distribution/transforms.hpp"
#include "sim/text/gguf_tokenizer.hpp"

namespace speclab {

struct GgufOptions {
  /// Tokens that a context may have; 0: as many as the model was trained for, at most 4096.
  std::int32_t context = 0;
  /// Tokens of every run, which makes a row depend on its context alone, to the last bit: shorter runs are
  /// filled up. 0: a run has as many tokens as are new; rows then depend on which tokens share a run, by more
  /// than rounding where weights are quantised.
  std::int32_t batch = 1;
  std::int32_t threads = 1;  ///< of one run
  /// Bytes for rows that are kept, so that a context which comes again costs no run; 0: none are kept.
  std::size_t kept_rows = std::size_t{64} << 20U;

  bool operator==(const GgufOptions&) const = default;
};

/// Satisfies LanguageModel. Copies share weights, caches and rows. Rows are softmax(logits),
/// adjusted.
/// Every thread that asks has a cache of its own, so that contexts which grow at their end, or differ from
/// the last one near their end, cost a run of the tokens that are new. Asked from more threads at once than
/// sim/parallel has, some wait.
class GgufModel {
 public:
  /// Loads the weights. Throws ModelError.
  GgufModel(std::shared_ptr<const GgufTokenizer> tokenizer, const GgufOptions& options);

  std::int32_t vocab() const;
  /// Throws ModelError for a context that is longer than `max_context`.
  Row next(std::span<const Token> context, std::vector<double>& scratch) const;

  /// Rows after the context's first `first` tokens, after one more, and so on to its end, will be asked for:
  /// they are computed together, in one run where they fit into a batch.
  void prepare(std::span<const Token> context, std::size_t first) const;
  /// Whether that is worth it; with a batch of 1 it is not: rows that nobody asks for would be computed.
  bool prepares() const;

  /// Tokens that a context may have.
  std::size_t max_context() const;

  /// The model through sampling options, which are applied to its logits; none when it has some already.
  std::optional<GgufModel> adjusted(const Adjustment& how) const;

  /// Bytes for the weights, and for a cache of one thread, as far as the file tells them before loading.
  static double cache_bytes(const GgufFacts& facts, const GgufOptions& options);

 private:
  class Engine;
  GgufModel(std::shared_ptr<Engine> engine, const Adjustment& how);

  std::shared_ptr<Engine> engine_;
  Adjustment how_;
};

}  // namespace speclab
