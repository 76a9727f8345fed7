// The rows of a pair of back-off n-gram models, for rules that read whole rows
// (sim/fast/whole_row_decoder.hpp), in memory proportional to the n-grams.
//
// With d a context, c its longest known suffix, and b_t and b_q what backing off weighs in the two models,
// the rows differ from b_t p_c and b_q q_c at the listed tokens alone, so that
//     T_d(G) = sum over listed of (p_d - G q_d)+ + b_t [T_c(G') - sum over listed of (p_c - G' q_c)+],
// G' = G b_q / b_t: two searches in short lists a length, down to the empty context. To draw from
// (p_d - G q_d)+ the bracket's second sum is left out: one of the lists, d's or a shorter context's, is
// chosen by its sum, a token is drawn from it, and if a longer context lists the token the draw is made
// again: rejection sampling, with 1.0 to 1.3 draws on average on text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/stop.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/ratio_lists.hpp"
#include "sim/fast/row_draws.hpp"
#include "sim/models/ngram_model.hpp"
#include "sim/parallel.hpp"

namespace speclab {

class NgramRows {
 public:
  /// Throws ModelError for what NgramTable does not take. Vocabularies agree.
  NgramRows(const NgramModel& target, const NgramModel& draft);

  /// At most so many contexts, the empty one among them, and so many tokens that they list.
  static double contexts_for(const NgramModel& target, const NgramModel& draft);
  static double followers_for(const NgramModel& target, const NgramModel& draft);
  /// At most so much memory, in bytes, without what NgramTable takes: 52 a follower, or less, and 80 a
  /// context.
  static double bytes_for(const NgramModel& target, const NgramModel& draft);

  const NgramTable& table() const { return table_; }
  std::int32_t vocab() const { return table_.vocab(); }
  std::size_t contexts() const { return table_.contexts(); }
  std::size_t bytes() const {
    return table_.bytes() + lists_.bytes() + nodes_.size() * (sizeof(Node) + sizeof(std::uint64_t));
  }

  std::int32_t least_draft_support() const { return least_draft_support_; }
  std::uint32_t context_of(std::span<const Token> tokens) const { return table_.context_of(tokens); }
  void prefetch(std::uint32_t context) const {
    __builtin_prefetch(&nodes_[context]);
    __builtin_prefetch(&table_.context(context));
  }
  /// Of the rows of a context, in units of Tally::quantum; computed when it is first asked for.
  std::uint64_t overlap_quanta(std::uint32_t context) const;

  // As those of TableRows.
  void draw(Side side, std::span<RowDraw> draws, DrawBlocks& blocks) const;
  void draw_residual(std::span<RowDraw> draws, DrawBlocks& blocks) const;
  void find(RowDraw& draw) const;
  void total(std::span<ContextTotal> totals, DrawBlocks& blocks) const;
  double total(std::uint32_t context, double scale, double& draft) const;
  /// What backing off from a context weighs in a model.
  double back_off(std::uint32_t context, Side side) const {
    const Node& node = nodes_[context];
    return side == target_side ? node.target_back_off : node.draft_back_off;
  }
  /// The largest p / q of both rows.
  double largest_ratio(std::uint32_t context) const;
  Row row(std::uint32_t context, Side side, std::vector<double>& scratch) const {
    scratch.resize(static_cast<std::size_t>(vocab()));
    table_.fill_row(context, side, scratch);
    return {scratch.data(), vocab()};
  }

 private:
  /// A context's lists: its tokens by their ratio in its own rows, and by that in the suffix's.
  struct Node {
    RatioList own;
    RatioList lower;
    double target_back_off = 0;
    double draft_back_off = 0;
    std::uint32_t suffix = 0;
  };

  void prefetch_find(std::uint32_t context, Token token) const;
  /// Whether a context lists the token, or a suffix of it longer than `drawn_in`.
  bool listed_above(std::uint32_t context, std::uint32_t drawn_in, Token token) const;
  /// body(context) for all of them, in parallel.
  template <class Body>
  void for_each_context(const Body& body) const {
    constexpr std::size_t in_a_row = 256;
    for_each_index((contexts() + in_a_row - 1) / in_a_row, [&](std::size_t index) {
      end_if_stopped();
      const std::size_t last = std::min(contexts(), (index + 1) * in_a_row);
      for (std::size_t at = index * in_a_row; at < last; ++at) body(static_cast<std::uint32_t>(at));
    });
  }
  void allocate();
  /// Returns how many of the listed tokens the draft gives no probability there.
  std::int32_t fill(std::uint32_t at);

  NgramTable table_;
  RatioLists lists_;
  BigTable<Node> nodes_;
  mutable BigTable<std::uint64_t> overlaps_;  ///< + 1, or 0
  std::int32_t least_draft_support_ = 0;
};

}  // namespace speclab
