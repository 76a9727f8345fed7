// The drafted tokens of many sequences, here called lanes. A token is drafted only when its verification
// requests it. One Philox block, addressed by Use::draft and the token's node, draws it (first word) and
// makes its acceptance draw (second word). A sibling that repeats an earlier one is drawn again with the next
// block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/fast/drafted_nodes.hpp"
#include "core/fast/whole_row_forms.hpp"
#include "core/random/block_random_source.hpp"
#include "core/round/round.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/row_draws.hpp"

namespace speclab {

struct LanePlace {
  std::uint32_t trial = 0;
  std::uint32_t round = 0;
  std::uint32_t context = 0;
};

class LaneDrafts {
 public:
  LaneDrafts(const PairRows& rows, DraftedShape shape, std::int32_t gamma, std::size_t lanes)
      : rows_(rows),
        shape_(std::move(shape)),
        nodes_(static_cast<std::size_t>(shape_.tree.size())),
        places_(lanes),
        tokens_(lanes * nodes_),
        targets_(lanes * nodes_),
        drafts_(lanes * nodes_),
        lefts_(lanes * nodes_, 1.0),
        nexts_(lanes * nodes_),
        words_(lanes * nodes_) {
    for (std::int32_t node = 0; node < shape_.tree.size(); ++node) {
      const std::int32_t depth = shape_.tree.depth(node);
      undrafted_.push_back(depth <= gamma ? undrafted_token : no_token);
      if (depth > gamma) continue;
      ++whole_.drafted;
      whole_.draft_runs = std::max(whole_.draft_runs, depth);
      const auto siblings = static_cast<std::int32_t>(siblings_of(node).size());
      can_run_out_ = can_run_out_ || (shape_.distinct && siblings > rows.min_draft_support());
    }
  }

  LanePlace& place(std::size_t lane) { return places_[lane]; }
  std::size_t nodes() const { return nodes_; }
  const DraftTree& tree() const { return shape_.tree; }

  DraftedNodes<double> begin(std::size_t lane) {
    const std::size_t first = lane * nodes_;
    std::copy(undrafted_.begin(), undrafted_.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(first));
    return {&shape_.tree, tokens_.data() + first, targets_.data() + first, drafts_.data() + first,
            lefts_.data() + first};
  }
  std::uint32_t context_after(std::size_t lane, std::int32_t node) const {
    return node < 0 ? places_[lane].context : nexts_[index(lane, node)];
  }
  std::uint64_t acceptance_word(std::size_t lane, std::int32_t node) const {
    return words_[index(lane, node)];
  }
  RowDraw draw_at(std::size_t lane, std::uint32_t context, Draw draw) const {
    return {.context = context,
            .trial = places_[lane].trial,
            .round = places_[lane].round,
            .site = use_and_slot(draw)};
  }

  void want(std::size_t lane, std::int32_t node) {
    draws_.push_back(draw_at(lane, context_after(lane, shape_.tree.parent(node)),
                             {Use::draft, static_cast<std::uint16_t>(node)}));
    wanted_.emplace_back(lane, node);
  }
  /// Drafts the tokens that `want` has collected.
  void draft(DrawBlocks& blocks) {
    rows_.draw(draft_side, draws_, blocks);
    if (shape_.distinct) settle_siblings(blocks);
    for (std::size_t i = 0; i < draws_.size(); ++i) {
      const RowDraw& draw = draws_[i];
      const std::size_t at = index(wanted_[i].first, wanted_[i].second);
      tokens_[at] = draw.token;
      targets_[at] = draw.target;
      drafts_[at] = draw.draft;
      nexts_[at] = draw.next;
      words_[at] = draw.word;
      if (draw.token >= 0) rows_.prefetch(draw.next);
    }
    draws_.clear();
    wanted_.clear();
  }

  /// Drafts the tokens that verification did not examine, if the draft may run out of siblings: only drawing
  /// them determines their number.
  void complete(const std::vector<std::size_t>& lanes, DrawBlocks& blocks) {
    if (!can_run_out_) return;
    do {
      draft(blocks);
      for (const std::size_t lane : lanes) {
        for (std::int32_t node = 0; node < shape_.tree.size(); ++node) complete(lane, node);
      }
    } while (!draws_.empty());
  }

  /// Returns the drafted tokens and draft runs of a complete round.
  Round drafted(std::size_t lane) const {
    if (!can_run_out_) return whole_;
    Round round;
    for (std::int32_t node = 0; node < shape_.tree.size(); ++node) {
      if (token(lane, node) < 0) continue;
      ++round.drafted;
      round.draft_runs = std::max(round.draft_runs, shape_.tree.depth(node));
    }
    return round;
  }

 private:
  std::size_t index(std::size_t lane, std::int32_t node) const {
    return lane * nodes_ + static_cast<std::size_t>(node);
  }
  Token token(std::size_t lane, std::int32_t node) const { return tokens_[index(lane, node)]; }
  const std::vector<std::int32_t>& siblings_of(std::int32_t node) const {
    return shape_.tree.children(shape_.tree.parent(node));
  }

  void complete(std::size_t lane, std::int32_t node) {
    const std::int32_t parent = shape_.tree.parent(node);
    if (token(lane, node) != undrafted_token || (parent >= 0 && token(lane, parent) == undrafted_token))
      return;
    const auto& siblings = siblings_of(node);
    const auto here = std::find(siblings.begin(), siblings.end(), node);
    if (here != siblings.begin() && token(lane, *(here - 1)) == undrafted_token) return;
    if (parent >= 0 && token(lane, parent) == no_token) {
      tokens_[index(lane, node)] = no_token;
    } else {
      want(lane, node);
    }
  }

  bool drawn_before(std::size_t lane, std::int32_t node, Token drawn) const {
    for (const std::int32_t sibling : siblings_of(node)) {
      if (sibling == node) break;
      if (token(lane, sibling) == drawn) return true;
    }
    return false;
  }

  /// Redraws siblings that repeat an earlier one, and computes the draft's remaining probability before each.
  void settle_siblings(DrawBlocks& blocks) {
    const auto repeated = [this](std::size_t i) {
      return drawn_before(wanted_[i].first, wanted_[i].second, draws_[i].token);
    };
    redraw_refused(rows_, draft_side, draws_, repeated, again_, blocks);
    for (const std::size_t i : again_) {
      const auto [lane, node] = wanted_[i];
      draw_without(rows_, draft_side, drawn_siblings(lane, node), draws_[i], blocks);
    }
    for (std::size_t i = 0; i < draws_.size(); ++i) {
      const auto [lane, node] = wanted_[i];
      if (draws_[i].token >= 0) lefts_[index(lane, node)] = left_before(lane, node, draws_[i].context);
    }
  }

  /// Returns the sum of the draft's row without the siblings before `node`: 1 minus their probabilities, or,
  /// where this difference would lose its digits, a sum over the row. (Draws there are mostly by passes,
  /// too.)
  double left_before(std::size_t lane, std::int32_t node, std::uint32_t context) const {
    constexpr double min_difference = 0x1p-20;
    double left = 1;
    for (const std::int32_t sibling : siblings_of(node)) {
      if (sibling == node) break;
      left -= drafts_[index(lane, sibling)];
    }
    if (left >= min_difference) return left;
    return total_probability(row_without(rows_, draft_side, context, drawn_siblings(lane, node)));
  }

  std::vector<Token> drawn_siblings(std::size_t lane, std::int32_t node) const {
    std::vector<Token> drawn;
    for (const std::int32_t sibling : siblings_of(node)) {
      if (sibling == node) break;
      drawn.push_back(token(lane, sibling));
    }
    return drawn;
  }

  const PairRows& rows_;
  DraftedShape shape_;
  std::size_t nodes_;
  std::vector<LanePlace> places_;
  std::vector<Token> undrafted_;  ///< tokens of a round before it begins
  Round whole_;                   ///< drafted tokens of a round in which no sibling is missing
  bool can_run_out_ = false;      ///< whether siblings can be missing

  // Indexed by lane and node.
  std::vector<Token> tokens_;
  std::vector<double> targets_;
  std::vector<double> drafts_;
  std::vector<double> lefts_;  ///< same as DraftedNodes::left
  std::vector<std::uint32_t> nexts_;
  std::vector<std::uint64_t> words_;

  // Scratch.
  std::vector<RowDraw> draws_;
  std::vector<std::pair<std::size_t, std::int32_t>> wanted_;
  std::vector<std::size_t> again_;
};

}  // namespace speclab
