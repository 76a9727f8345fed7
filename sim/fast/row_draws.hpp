// The rows of a pair of models, for rules that read full rows (sim/fast/whole_row_decoder.hpp): draws from
// them, and totals over them, for many sequences at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/distribution/row.hpp"
#include "core/polymorphic.hpp"
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

class NgramRows;

/// Two models' rows by context. Functions that take many draws or totals do them together, so that all wait
/// for memory at the same time.
class PairRows : public Polymorphic {
 public:
  virtual std::size_t contexts() const = 0;
  virtual std::size_t bytes() const = 0;
  /// Returns a lower bound, over all contexts, on the number of tokens to which the draft gives a probability
  /// above 0.
  virtual std::int32_t min_draft_support() const = 0;
  virtual std::uint32_t context_of(std::span<const Token> tokens) const = 0;
  virtual void prefetch(std::uint32_t context) const = 0;
  /// Returns the overlap of a context's rows, in units of Tally::quantum.
  virtual std::uint64_t overlap_quanta(std::uint32_t context) const = 0;

  /// Draws a token for each draw from a model's row, with its probabilities in both rows and the context
  /// after it.
  virtual void draw(Side side, std::span<RowDraw> draws, DrawBlocks& blocks) const = 0;
  /// Draws from norm(p - scale q) over the tokens with p/q > above, or from p if that is 0 everywhere. It
  /// does not set probabilities.
  virtual void draw_residual(std::span<RowDraw> draws, DrawBlocks& blocks) const = 0;
  /// Sets the probabilities of a draw's token, and the context after it.
  virtual void find(RowDraw& draw) const = 0;
  virtual void total(std::span<ContextTotal> totals, DrawBlocks& blocks) const = 0;
  /// Returns the total of one context, and sets `draft` to -d total / d scale.
  virtual double total(std::uint32_t context, double scale, double& draft) const = 0;
  /// Returns a model's row: a view of its own storage, or of `scratch`.
  virtual Row row(std::uint32_t context, Side side, std::vector<double>& scratch) const = 0;
  /// Returns the rows of a pair of n-gram models, which offer more; null for others.
  virtual const NgramRows* ngrams() const { return nullptr; }
};

/// Maximum number of draws of one token; then a pass over the row draws from its allowed tokens.
inline constexpr std::uint32_t max_redraws = 64;

/// Repeats each draws[i] while refused(i), with the next Philox block each time, up to max_redraws draws in
/// all. `again` receives the indices that are still refused.
template <class Refused>
void redraw_refused(const PairRows& rows, Side side, std::vector<RowDraw>& draws, const Refused& refused,
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
inline OwnedRow<double> row_without(const PairRows& rows, Side side, std::uint32_t context,
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
inline void draw_without(const PairRows& rows, Side side, std::span<const Token> tokens, RowDraw& draw,
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
template <class Weight>
void draw_by_pass(const PairRows& rows, RowDraw& draw, const Weight& weight, DrawBlocks& blocks) {
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
