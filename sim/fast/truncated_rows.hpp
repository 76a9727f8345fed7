// The rows of a pair of n-gram models with top-k or top-p (sim/fast/row_draws.hpp). A row retains few tokens,
// which LikelyTokens finds without a pass over the vocabulary. A context's tokens are computed at first use
// and stored until the memory limit is reached, else computed again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/distribution/transforms.hpp"
#include "sim/fast/likely_tokens.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/row_draws.hpp"
#include "sim/models/model.hpp"
#include "sim/models/ngram_model.hpp"

namespace speclab {

class TruncatedRows final : public PairRows {
 public:
  /// Returns the n-gram model inside an AdjustedModel with top-k, top-p or temperature 0; null for other
  /// models.
  static const NgramModel* ngram_of(const Model& model);

  /// Takes two models for which `ngram_of` is not null; they must outlive it. Throws ModelError for models
  /// that NgramTable refuses. Both models must have the same vocabulary.
  TruncatedRows(const AdjustedModel& target, const AdjustedModel& draft,
                std::size_t max_kept_bytes = default_kept_bytes);
  ~TruncatedRows() override;

  /// Memory for stored contexts.
  static constexpr std::size_t default_kept_bytes = std::size_t{1} << 31U;

  /// Returns an upper bound on the memory, in bytes, without NgramTable's.
  static double bytes_for(const AdjustedModel& target, const AdjustedModel& draft);
  std::size_t bytes() const override;

  std::int32_t vocab() const { return table_.vocab(); }
  std::size_t contexts() const override { return table_.contexts(); }
  std::int32_t min_draft_support() const override { return 1; }
  std::uint32_t context_of(std::span<const Token> tokens) const override { return table_.context_of(tokens); }
  void prefetch(std::uint32_t context) const override { __builtin_prefetch(&kept_[context]); }
  std::uint64_t overlap_quanta(std::uint32_t context) const override;

  void draw(Side side, std::span<RowDraw> draws, DrawBlocks& blocks) const override;
  void draw_residual(std::span<RowDraw> draws, DrawBlocks& blocks) const override;
  void find(RowDraw& draw) const override;
  void total(std::span<ContextTotal> totals, DrawBlocks& blocks) const override;
  double total(std::uint32_t context, double scale, double& draft) const override;
  Row row(std::uint32_t context, Side side, std::vector<double>& scratch) const override;

 private:
  /// A token that either row keeps, with the sums of both rows' probabilities from it to the end.
  struct Entry {
    Token token;
    std::uint32_t next;  ///< the context after the token
    std::array<double, 2> probability;
    std::array<double, 2> sum;
  };
  /// Tokens of a context by ascending target / draft; equal ratios are ordered by token.
  using Entries = std::vector<Entry>;

  Entries found(std::uint32_t context) const;
  /// Returns entries that are valid until this thread asks for another context.
  const Entries& entries(std::uint32_t context) const;
  /// Computes the tokens of a model's row that sampling options keep, with their probabilities.
  void retain(std::uint32_t context, Side side, std::vector<std::pair<Token, double>>& retained) const;

  std::array<Adjustment, 2> how_;
  NgramTable table_;
  std::array<LikelyTokens, 2> likely_;
  std::size_t max_kept_bytes_;
  mutable std::atomic<std::size_t> kept_bytes_ = 0;
  mutable std::vector<std::atomic<const Entries*>> kept_;
};

}  // namespace speclab
