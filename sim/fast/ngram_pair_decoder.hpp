// Runs the steps of fast rounds over a pair of back-off n-gram models. A step reads a few slots, and each
// names the next. Prefetches request them one after the other, so that all streams wait for memory at the
// same time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random/bernoulli_bits.hpp"
#include "core/random/block_random_source.hpp"
#include "core/round/verify.hpp"
#include "core/rules/pointwise_rules.hpp"
#include "sim/fast/interleaved.hpp"
#include "sim/fast/ngram_table.hpp"

namespace speclab {

/// Returns the number of proposals after which the residual is drawn by a pass over the vocabulary. A pass
/// reads `vocab` probabilities; the limit keeps the proposals' cost of the same order.
inline std::uint32_t max_proposals(std::int32_t vocab) {
  const std::int32_t fitting = vocab / 16;
  return static_cast<std::uint32_t>(fitting < 16 ? 16 : fitting > 4096 ? 4096 : fitting);
}

template <PointwiseRule Rule>
class NgramPairDecoder {
 public:
  struct Cursor {
    std::uint32_t context = 0;
    std::uint32_t drawing = fresh;  ///< the context in which the draw continues, if it has moved to a suffix
    std::uint32_t proposals = 0;    ///< number of proposals for this residual
    std::uint64_t overlap = 0;
    const NgramTable::Slot* slot = nullptr;
    NgramTable::Outcome drawn{};
    /// For a token drawn in a suffix, its slot in the context's own block.
    std::uint32_t listed = NgramTable::nowhere;
  };
  static constexpr int prefetches = 3;
  static constexpr bool probes = true;
  static constexpr bool repeats = true;

  NgramPairDecoder(const NgramTable& table, const Rule& rule, std::uint64_t seed)
      : table_(&table), rule_(rule), seed_(seed), max_(max_proposals(table.vocab())) {}

  Cursor start(const std::vector<Token>& prompt) const {
    Cursor cursor;
    cursor.context = table_->context_of(prompt);
    return cursor;
  }

  template <int Prefetch>
  void prefetch(Cursor& cursor, const RoundState& state, std::uint64_t selector) const {
    const Side side = side_of(state);
    if constexpr (Prefetch == 0) {
      const std::uint32_t longest = table_->context(cursor.context).longest[side];
      cursor.drawing = select(cursor.drawing == fresh, longest, cursor.drawing);
      const NgramTable::Context& context = table_->context(cursor.drawing);
      cursor.slot = table_->block(context, side) + alias_slot(selector, context.bits);
      __builtin_prefetch(cursor.slot);
    } else if constexpr (Prefetch == 1) {
      const NgramTable::Slot& slot = *cursor.slot;
      const std::uint32_t own = alias_fraction(selector, table_->context(cursor.drawing).bits) < slot.cut;
      cursor.drawn.token = static_cast<Token>(select(own, static_cast<std::uint32_t>(slot.own.token),
                                                     static_cast<std::uint32_t>(slot.other.token)));
      cursor.drawn.next = select(own, slot.own.next, slot.other.next);
      cursor.drawn.acceptance = select(own, slot.own.acceptance, slot.other.acceptance);
      const NgramTable::Context& context = table_->context(cursor.context);
      // The step reads the context after the drawn token. If the token was drawn in a shorter context, the
      // step also reads its probabilities in the longest one: listed there, or those of the empty context.
      __builtin_prefetch(&table_->context(cursor.drawn.next));
      if (cursor.drawing != cursor.context && cursor.drawn.token >= 0) {
        __builtin_prefetch(&table_->home(context, cursor.drawn.token));
        __builtin_prefetch(&table_->root_probabilities(cursor.drawn.token));
      }
    } else if (cursor.drawing != cursor.context && cursor.drawn.token >= 0) {
      const NgramTable::Context& context = table_->context(cursor.context);
      cursor.listed = table_->place(context, cursor.drawn.token);
      if (cursor.listed != NgramTable::nowhere) {
        cursor.slot = table_->block(context, side) + cursor.listed;
        __builtin_prefetch(cursor.slot);
      }
    }
  }

  StepOutcome step(Cursor& cursor, const Step& step, FastWork& work) const {
    const RoundState& state = step.state;
    const Side side = side_of(state);
    ++work.reads;  // reads the drawn slot
    if (cursor.drawn.token == NgramTable::shorter) {
      cursor.drawing = table_->context(cursor.drawing).below[side];
      return StepOutcome::again;
    }
    NgramTable::Outcome drawn = cursor.drawn;
    std::uint64_t word = step.acceptance_word;
    std::uint32_t accepts = bernoulli_bits_of(word) < drawn.acceptance;
    if (cursor.drawing != cursor.context) {
      const NgramTable::Context& context = table_->context(cursor.context);
      if (context.rejects[side]) [[unlikely]] {
        const auto kept =
            table_->word_if_kept(context.longest[side], cursor.drawing, cursor.drawn.token, side, word);
        if (!kept) {
          cursor.drawing = fresh;
          return StepOutcome::again;
        }
        word = *kept;
      }
      work.reads += 2;  // reads the slot's token in the context's own block, and its probabilities
      if (cursor.listed != NgramTable::nowhere) {
        drawn = cursor.slot->own;
        accepts = bernoulli_bits_of(word) < drawn.acceptance;
      } else {
        const NgramTable::Found found = unlisted(context, cursor);
        const double probability = this->probability(found.probabilities, side);
        drawn = {drawn.token, found.next, bernoulli_bits(probability)};
        accepts = open_unit(word) < probability;
      }
    }
    if (bernoulli_bits_of(word) == drawn.acceptance) [[unlikely]]
      accepts = open_unit(word) < probability(table_->find(cursor.context, drawn.token).probabilities, side);
    cursor.drawing = fresh;
    cursor.overlap += bernoulli_quanta(drawn.acceptance) & (std::uint64_t{0} - state.drafting);
    std::uint32_t emitted = (accepts & (1U - state.probe)) | state.bonus;
    cursor.proposals = (cursor.proposals + 1) * (state.replacing & (1U - emitted));
    if (cursor.proposals == max_) [[unlikely]] {
      drawn.next = table_->find(cursor.context, replacement_by_pass(cursor, step)).next;
      cursor.proposals = 0;
      ++work.passes;
      emitted = 1;
    }
    work.reads += emitted;  // reads the context after the token
    cursor.context = select(emitted, drawn.next, cursor.context);
    __builtin_prefetch(&table_->context(cursor.context));
    return static_cast<StepOutcome>(emitted);
  }

 private:
  static constexpr std::uint32_t fresh = 0xffffffff;

  static Side side_of(const RoundState& state) { return static_cast<Side>(state.drafting); }

  /// Returns table_->find_unlisted for the drawn token. The suffix is most often the empty context, whose
  /// slot was already drawn.
  NgramTable::Found unlisted(const NgramTable::Context& context, const Cursor& cursor) const {
    if (context.suffix != 0) return table_->find_unlisted(cursor.context, cursor.drawn.token);
    const NgramTable::Probabilities& root = table_->root_probabilities(cursor.drawn.token);
    return {
        {context.scale[0] * context.backoff[0] * root[0], context.scale[1] * context.backoff[1] * root[1]},
        cursor.drawn.next};
  }

  /// Returns the acceptance probability of a token that was drawn from `side`.
  double probability(const NgramTable::Probabilities& of, Side side) const {
    return side == draft_side ? rule_.acceptance_probability(of[target_side], of[draft_side])
                              : residual_acceptance(rule_, of[target_side], of[draft_side]);
  }

  Token replacement_by_pass(const Cursor& cursor, const Step& step) const {
    std::vector<double> target(static_cast<std::size_t>(table_->vocab()));
    std::vector<double> draft(target.size());
    table_->fill_row(cursor.context, target_side, target);
    table_->fill_row(cursor.context, draft_side, draft);
    const Row p{target.data(), table_->vocab()};
    const Row q{draft.data(), table_->vocab()};
    BlockRandomSource random(seed_, step.trial, step.round);
    const Draw draw{Use::replace, step.state.accepted, step.attempt + 1};
    return categorical_or(random, draw, rule_.replacement(p, q), p);
  }

  const NgramTable* table_;
  Rule rule_;
  std::uint64_t seed_;
  std::uint32_t max_;
};

}  // namespace speclab
