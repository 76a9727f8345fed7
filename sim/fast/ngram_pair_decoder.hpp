// Steps of quick rounds over a pair of back-off n-gram models. A step reads a few slots, each named by the
// one before; the looks ask for them one by one, so that all lanes wait for each at once.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random/block_random_source.hpp"
#include "core/random/bernoulli_bits.hpp"
#include "core/fast/fast_round.hpp"
#include "sim/fast/interleaved.hpp"
#include "sim/fast/ngram_table.hpp"

namespace speclab {

template <PointwiseRule Rule>
class NgramSteps {
 public:
  struct Place {
    std::uint32_t context = 0;
    std::uint32_t drawing = fresh;  ///< the context drawn from, when the draw has gone on
    std::uint32_t proposals = 0;    ///< made for this residual
    std::uint64_t overlap = 0;
    const NgramTable::Slot* slot = nullptr;
    NgramTable::Outcome drawn{};
    std::uint32_t listed = NgramTable::nowhere;  ///< where the context itself lists a token drawn below it
  };
  static constexpr int looks = 3;
  static constexpr bool surveys = true;
  static constexpr bool repeats = true;

  NgramSteps(const NgramTable& table, const Rule& rule, std::uint64_t seed)
      : table_(&table), rule_(rule), seed_(seed), most_(most_proposals(table.vocab())) {}

  Place start(const std::vector<Token>& prompt) const {
    Place place;
    place.context = table_->context_of(prompt);
    return place;
  }

  template <int Look>
  void look(Place& place, const RoundState& state, std::uint64_t pick) const {
    const Side side = side_of(state);
    if constexpr (Look == 0) {
      const std::uint32_t longest = table_->context(place.context).longest[side];
      place.drawing = select(place.drawing == fresh, longest, place.drawing);
      const NgramTable::Context& context = table_->context(place.drawing);
      place.slot = table_->block(context, side) + alias_slot(pick, context.bits);
      __builtin_prefetch(place.slot);
    } else if constexpr (Look == 1) {
      const NgramTable::Slot& slot = *place.slot;
      const std::uint32_t own = alias_fraction(pick, table_->context(place.drawing).bits) < slot.cut;
      place.drawn.token = static_cast<Token>(select(own, static_cast<std::uint32_t>(slot.own.token),
                                                    static_cast<std::uint32_t>(slot.other.token)));
      place.drawn.next = select(own, slot.own.next, slot.other.next);
      place.drawn.coin = select(own, slot.own.coin, slot.other.coin);
      const NgramTable::Context& context = table_->context(place.context);
      // Whatever it was that was drawn, the step will read one of these.
      __builtin_prefetch(&table_->context(place.drawn.next));
      if (place.drawing != place.context && place.drawn.token >= 0) {
        __builtin_prefetch(&table_->home(context, place.drawn.token));
        __builtin_prefetch(&table_->root_masses(place.drawn.token));
      }
    } else if (place.drawing != place.context && place.drawn.token >= 0) {
      const NgramTable::Context& context = table_->context(place.context);
      place.listed = table_->place(context, place.drawn.token);
      if (place.listed != NgramTable::nowhere) {
        place.slot = table_->block(context, side) + place.listed;
        __builtin_prefetch(place.slot);
      }
    }
  }

  Fate step(Place& place, const Step& step, QuickWork& work) const {
    const RoundState& state = step.state;
    const Side side = side_of(state);
    ++work.reads;  // the slot drawn
    if (place.drawn.token == NgramTable::shorter) {
      place.drawing = table_->context(place.drawing).below[side];
      return Fate::again;
    }
    NgramTable::Outcome drawn = place.drawn;
    const std::uint32_t bits = coin_bits_of(step.coin);
    std::uint32_t heads = bits < drawn.coin;
    if (place.drawing != place.context) {
      work.reads += 2;  // where the context lists it, if it does, and its slot or its masses
      if (place.listed != NgramTable::nowhere) {
        drawn = place.slot->own;
        heads = bits < drawn.coin;
      } else {
        const NgramTable::Found found = unlisted(table_->context(place.context), place);
        const double probability = this->probability(found.mass, side);
        drawn = {drawn.token, found.next, coin_bits(probability)};
        heads = open_unit(step.coin) < probability;
      }
    }
    if (bits == drawn.coin) [[unlikely]] {
      heads = open_unit(step.coin) < probability(table_->find(place.context, drawn.token).mass, side);
    }
    place.drawing = fresh;
    place.overlap += coin_quanta(drawn.coin) & (std::uint64_t{0} - state.drafting);
    std::uint32_t emitted = (heads & (1U - state.survey)) | state.bonus;
    place.proposals = (place.proposals + 1) * (state.replacing & (1U - emitted));
    if (place.proposals == most_) [[unlikely]] {
      drawn.next = table_->find(place.context, replacement_by_pass(place, step)).next;
      place.proposals = 0;
      ++work.passes;
      emitted = 1;
    }
    work.reads += emitted;  // the context after it
    place.context = select(emitted, drawn.next, place.context);
    __builtin_prefetch(&table_->context(place.context));
    return static_cast<Fate>(emitted);
  }

 private:
  static constexpr std::uint32_t fresh = 0xffffffff;

  static Side side_of(const RoundState& state) { return static_cast<Side>(state.drafting); }

  /// What find_unlisted gives. Most often the suffix is the empty context, whose slot was drawn already.
  NgramTable::Found unlisted(const NgramTable::Context& context, const Place& place) const {
    if (context.suffix != 0) return table_->find_unlisted(place.context, place.drawn.token);
    const NgramTable::Masses& root = table_->root_masses(place.drawn.token);
    return {
        {context.scale[0] * context.backoff[0] * root[0], context.scale[1] * context.backoff[1] * root[1]},
        place.drawn.next};
  }

  /// Of the coin that belongs to a draw from `side`.
  double probability(const NgramTable::Masses& mass, Side side) const {
    return side == draft_side ? rule_.kept(mass[target_side], mass[draft_side])
                              : residual_kept(rule_, mass[target_side], mass[draft_side]);
  }

  Token replacement_by_pass(const Place& place, const Step& step) const {
    std::vector<double> target(static_cast<std::size_t>(table_->vocab()));
    std::vector<double> draft(target.size());
    table_->fill_row(place.context, target_side, target);
    table_->fill_row(place.context, draft_side, draft);
    const Row p{target.data(), table_->vocab()};
    const Row q{draft.data(), table_->vocab()};
    BlockChance chance(seed_, step.trial, step.round);
    const Draw draw{Use::replace, step.state.accepted, step.attempt + 1};
    return pick_or(chance, draw, rule_.replacement(p, q), p);
  }

  const NgramTable* table_;
  Rule rule_;
  std::uint64_t seed_;
  std::uint32_t most_;
};

}  // namespace speclab
