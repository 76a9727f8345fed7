// Draws from rows, and totals over rows, for many sequences at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/distribution/row.hpp"
#include "core/random/block_random_source.hpp"
#include "core/random/philox.hpp"
#include "core/round/verify.hpp"
#include "core/token.hpp"
#include "sim/fast/ngram_table.hpp"
#include "sim/fast/philox_blocks.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

/// One draw, from a model's row or from the residual p - scale q over tokens with p / q > above.
struct RowDraw {
  std::uint32_t context;
  std::uint32_t trial;
  std::uint32_t round;
  std::uint32_t site;  ///< use and slot of the draw, in 16 bits each
  std::uint32_t attempt = 0;
  double scale = 0;  ///< factor of the draft in the residual
  double above = 0;  ///< smallest p / q, exclusive; at least `scale`
  Token token = no_token;
  std::uint32_t next = 0;  ///< the context after the token
  double target = 0;       ///< the target's probability of the token
  double draft = 0;
  std::uint64_t word = 0;  ///< the second word of the block that drew the token: its acceptance draw

  Draw draw() const {
    return {static_cast<Use>(site >> 16U), static_cast<std::uint16_t>(site & 0xffffU), attempt};
  }
};

/// sum (p - scale q)+ in a context, and minus its derivative, the sum of q over its positive terms.
struct ContextTotal {
  std::uint32_t context;
  double scale;
  double total = 0;
  double draft = 0;
};

/// Storage for the Philox blocks of one thread's draws, and counts of their work.
class DrawBlocks {
 public:
  explicit DrawBlocks(std::uint64_t seed) : seed_(seed) {}

  /// Computes the Philox block of every draws[chosen[i]].
  void make(std::span<const RowDraw> draws, std::span<const std::uint32_t> chosen) {
    width_ = (chosen.size() + philox_batch - 1) / philox_batch * philox_batch;
    if (counters_.size() < 4 * width_) {
      counters_.resize(4 * width_);
      words_.resize(4 * width_);
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const RowDraw& draw = draws[chosen[i]];
      counters_[i] = draw.attempt;
      counters_[width_ + i] = draw.site;
      counters_[2 * width_ + i] = draw.round;
      counters_[3 * width_ + i] = draw.trial;
    }
    philox_blocks(seed_, counters_.data(), words_.data(), width_);
    work.blocks += chosen.size();
  }
  std::uint64_t first(std::size_t i) const { return joined(words_[i], words_[width_ + i]); }
  std::uint64_t second(std::size_t i) const { return joined(words_[2 * width_ + i], words_[3 * width_ + i]); }
  std::uint64_t seed() const { return seed_; }

  FastWork work;
  std::vector<std::uint32_t> active;  ///< scratch for the functions that draw

  void activate(std::size_t count) {
    active.resize(count);
    for (std::size_t i = 0; i < count; ++i) active[i] = static_cast<std::uint32_t>(i);
  }

 private:
  std::uint64_t seed_;
  std::size_t width_ = 0;
  std::vector<std::uint32_t> counters_;
  std::vector<std::uint32_t> words_;
};

/// Maximum number of draws of one token; then a pass over the row draws from its allowed tokens.
inline constexpr std::uint32_t max_redraws = 64;

/// Repeats each draws[i] while refused(i), with the next Philox block each time, up to max_redraws draws in
/// all. `again` receives the indices that are still refused.
template <class Rows, class Refused>
void redraw_refused(const Rows& rows, Side side, std::vector<RowDraw>& draws, const Refused& refused,
                    std::vector<std::size_t>& again, DrawBlocks& blocks) {
  again.clear();
  for (std::size_t i = 0; i < draws.size(); ++i) {
    if (refused(i)) again.push_back(i);
  }
  thread_local std::vector<RowDraw> redraws;
  for (std::uint32_t tries = 1; !again.empty() && tries < max_redraws; ++tries) {
    redraws.clear();
    for (const std::size_t i : again) {
      ++draws[i].attempt;
      redraws.push_back(draws[i]);
    }
    rows.draw(side, redraws, blocks);
    for (std::size_t k = 0; k < again.size(); ++k) draws[again[k]] = redraws[k];
    std::erase_if(again, [&](std::size_t i) { return !refused(i); });
  }
}

/// Returns a model's row without some tokens, not normalised.
template <class Rows>
OwnedRow<double> row_without(const Rows& rows, Side side, std::uint32_t context,
                             std::span<const Token> tokens) {
  std::vector<double> scratch;
  OwnedRow<double> left = copy_of(rows.row(context, side, scratch));
  for (const Token token : tokens) {
    if (token >= 0) left.probabilities[static_cast<std::size_t>(token)] = 0;
  }
  return left;
}

/// Draws from a model's row without some tokens by reading the whole row, with the draw's next Philox block.
/// The token is `no_token` if nothing is left of the row.
template <class Rows>
void draw_without(const Rows& rows, Side side, std::span<const Token> tokens, RowDraw& draw,
                  DrawBlocks& blocks) {
  const OwnedRow<double> left = row_without(rows, side, draw.context, tokens);
  ++draw.attempt;
  ++blocks.work.passes;
  BlockRandomSource random(blocks.seed(), draw.trial, draw.round);
  draw.token = random.categorical(draw.draw(), left);
  draw.word = philox_words(blocks.seed(), draw.attempt, draw.site, draw.round, draw.trial).second;
  if (draw.token >= 0) rows.find(draw);
}

/// Draws by reading both whole rows, with the draw's next Philox block. A token is drawn in proportion to
/// `weight` of its two probabilities, or from the target if all weights are 0.
template <class Rows, class Weight>
void draw_by_pass(const Rows& rows, RowDraw& draw, const Weight& weight, DrawBlocks& blocks) {
  std::vector<double> target_scratch;
  std::vector<double> draft_scratch;
  const Row target = rows.row(draw.context, target_side, target_scratch);
  const Row draft = rows.row(draw.context, draft_side, draft_scratch);
  std::vector<double> weights(static_cast<std::size_t>(target.size));
  for (Token id = 0; id < target.size; ++id)
    weights[static_cast<std::size_t>(id)] = weight(target[id], draft[id]);
  ++draw.attempt;
  ++blocks.work.passes;
  BlockRandomSource random(blocks.seed(), draw.trial, draw.round);
  draw.token = categorical_or(random, draw.draw(), Row{weights.data(), target.size}, target);
  rows.find(draw);
}

}  // namespace speclab
