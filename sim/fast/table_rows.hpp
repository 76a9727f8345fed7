// The rows of a pair of stored tables (sim/fast/row_draws.hpp): alias tables for draws, and each context's
// tokens by ascending target / draft.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random/alias.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/ratio_lists.hpp"
#include "sim/fast/row_draws.hpp"
#include "sim/models/table_model.hpp"

namespace speclab {

/// The models must outlive it.
class TableRows final : public PairRows {
 public:
  TableRows(const TableModel& target, const TableModel& draft);

  /// Returns the memory that a pair needs, in bytes: 28 per pair of probabilities, and 8 per slot of each
  /// model's alias tables, whose number is the next power of two.
  static double bytes_for(const TableModel& target, const TableModel& draft);

  std::int32_t vocab() const { return models_[target_side]->vocab(); }
  std::size_t contexts() const override { return overlap_.size(); }
  std::size_t bytes() const override;
  std::int32_t min_draft_support() const override { return min_draft_support_; }
  std::uint32_t context_of(std::span<const Token> tokens) const override {
    return static_cast<std::uint32_t>(table_context(tokens, order_, vocab()));
  }
  void prefetch(std::uint32_t context) const override { __builtin_prefetch(&overlap_[context]); }
  std::uint64_t overlap_quanta(std::uint32_t context) const override { return overlap_[context]; }

  void draw(Side side, std::span<RowDraw> draws, DrawBlocks& blocks) const override;
  void draw_residual(std::span<RowDraw> draws, DrawBlocks& blocks) const override;
  void find(RowDraw& draw) const override;
  void total(std::span<ContextTotal> totals, DrawBlocks& blocks) const override;
  double total(std::uint32_t context, double scale, double& draft) const override {
    return lists_.total(list(context), scale, &draft);
  }
  Row row(std::uint32_t context, Side side, std::vector<double>&) const override {
    return models_[side]->row(context % models_[side]->contexts());
  }

 private:
  RatioList list(std::uint32_t context) const { return {starts_[context], sizes_[context]}; }
  std::uint32_t next_context(std::uint32_t context, Token token) const;
  const AliasSlot& slot(Side side, std::uint32_t context, std::uint32_t at) const {
    const std::size_t row = context % models_[side]->contexts();
    return alias_[side][(row << static_cast<unsigned>(bits_)) + at];
  }

  std::array<const TableModel*, 2> models_;
  std::int32_t order_;
  int bits_;
  std::uint32_t suffix_contexts_;
  std::int32_t min_draft_support_;
  std::array<BigTable<AliasSlot>, 2> alias_;
  RatioLists lists_;
  std::vector<std::uint64_t> starts_;  ///< start of each context's list
  std::vector<std::uint32_t> sizes_;
  std::vector<std::uint64_t> overlap_;
};

}  // namespace speclab
