// The rows of a pair of back-off n-gram models (sim/fast/row_draws.hpp), in memory proportional to the number
// of n-grams.
//
// Let d be a context, c its longest known suffix, and b_t and b_q the back-off weights of the two models. The
// rows differ from b_t p_c and b_q q_c at the listed tokens only, so that the total T_d(G), the sum of (p_d -
// G q_d)+, is
//     T_d(G) = sum over listed of (p_d - G q_d)+ + b_t [T_c(G') - sum over listed of (p_c - G' q_c)+],
// G' = G b_q / b_t: two searches in short lists for each length, down to the empty context. To draw from (p_d
// - G q_d)+, the second sum in the bracket is left out: a list, d's or a shorter context's, is chosen in
// proportion to its sum, and a token is drawn from it. If a longer context lists the token, the draw is
// repeated (rejection sampling, 1.0 to 1.3 draws on average on text).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/fast/ngram_table.hpp"
#include "sim/fast/ratio_lists.hpp"
#include "sim/fast/row_draws.hpp"
#include "sim/models/ngram_model.hpp"

namespace speclab {

class NgramRows final : public PairRows {
 public:
  /// Throws ModelError for models that NgramTable refuses. Both models must have the same vocabulary.
  NgramRows(const NgramModel& target, const NgramModel& draft);

  /// Return upper bounds on the number of contexts, including the empty one, and on the number of tokens that
  /// they list.
  static double contexts_for(const NgramModel& target, const NgramModel& draft);
  static double followers_for(const NgramModel& target, const NgramModel& draft);
  /// Returns an upper bound on the memory, in bytes, without NgramTable's: at most 52 per follower, and 80
  /// per context.
  static double bytes_for(const NgramModel& target, const NgramModel& draft);

  const NgramTable& table() const { return table_; }
  std::int32_t vocab() const { return table_.vocab(); }
  std::size_t contexts() const override { return table_.contexts(); }
  std::size_t bytes() const override {
    return table_.bytes() + lists_.bytes() + nodes_.size() * (sizeof(Node) + sizeof(std::uint64_t));
  }

  std::int32_t min_draft_support() const override { return min_draft_support_; }
  std::uint32_t context_of(std::span<const Token> tokens) const override { return table_.context_of(tokens); }
  void prefetch(std::uint32_t context) const override {
    __builtin_prefetch(&nodes_[context]);
    __builtin_prefetch(&table_.context(context));
  }
  /// Computed at first use.
  std::uint64_t overlap_quanta(std::uint32_t context) const override;

  void draw(Side side, std::span<RowDraw> draws, DrawBlocks& blocks) const override;
  void draw_residual(std::span<RowDraw> draws, DrawBlocks& blocks) const override;
  void find(RowDraw& draw) const override;
  void total(std::span<ContextTotal> totals, DrawBlocks& blocks) const override;
  double total(std::uint32_t context, double scale, double& draft) const override;
  Row row(std::uint32_t context, Side side, std::vector<double>& scratch) const override {
    scratch.resize(static_cast<std::size_t>(vocab()));
    table_.fill_row(context, side, scratch);
    return {scratch.data(), vocab()};
  }
  const NgramRows* ngrams() const override { return this; }

  /// Returns a model's back-off weight in a context.
  double back_off(std::uint32_t context, Side side) const {
    const Node& node = nodes_[context];
    return side == target_side ? node.target_back_off : node.draft_back_off;
  }
  /// Returns the largest p / q of a token in a context's two rows.
  double largest_ratio(std::uint32_t context) const;

 private:
  /// The tokens that a context lists, ordered by p / q in its own rows and in the suffix's rows.
  struct Node {
    RatioList own;
    RatioList lower;
    double target_back_off = 0;
    double draft_back_off = 0;
    std::uint32_t suffix = 0;
  };

  struct Envelope;

  /// Computes each draw's envelope for `draw_residual`.
  void find_envelopes(std::span<const RowDraw> draws, std::vector<Envelope>& envelopes,
                      DrawBlocks& blocks) const;
  void prefetch_find(std::uint32_t context, Token token) const;
  /// Returns whether a context, or a suffix of it longer than `drawn_in`, lists the token.
  bool listed_above(std::uint32_t context, std::uint32_t drawn_in, Token token) const;
  void allocate();
  /// Fills the lists of a context. Returns how many of the listed tokens have no probability in the draft's
  /// row.
  std::int32_t fill(std::uint32_t at);

  NgramTable table_;
  RatioLists lists_;
  BigTable<Node> nodes_;
  mutable BigTable<std::uint64_t> overlaps_;  ///< overlap + 1, or 0 if unknown
  std::int32_t min_draft_support_ = 0;
};

}  // namespace speclab
