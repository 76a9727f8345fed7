// Steps of quick rounds over a pair of stored tables: core/quick_round.hpp with no proposals, on BlockChance.
#pragma once

#include <cstdint>
#include <vector>

#include "speclab/core/chance.hpp"
#include "speclab/sim/quick/interleaved.hpp"
#include "speclab/sim/quick/step_table.hpp"

namespace speclab {

/// `Order` is 0 or 1, or 2 for all others.
template <PointwiseRule Rule, int Order>
class TableSteps {
 public:
  struct Place {
    std::uint32_t context = 0;
    std::uint64_t overlap = 0;
    const StepSlot* slot = nullptr;  ///< that the next step reads ...
    std::uint32_t own = 0;           ///< ... the token it belongs to ...
    std::uint32_t fraction = 0;      ///< ... and what is held against its cut
  };

  static constexpr int looks = 1;
  static constexpr bool surveys = false;
  static constexpr bool repeats = false;

  TableSteps(const StepTable& table, const Rule& rule)
      : table_(&table),
        rule_(rule),
        slots_(table.slots()),
        overlap_(table.overlap()),
        bits_(table.bits()),
        vocab_(static_cast<std::uint32_t>(table.vocab())),
        kept_contexts_(
            static_cast<std::uint32_t>(table.contexts() / static_cast<std::size_t>(table.vocab()))),
        contexts_(table.contexts()) {}

  Place start(const std::vector<Token>& prompt) const { return {table_->context_of(prompt)}; }

  template <int>
  void look(Place& place, const RoundState& state, std::uint64_t pick) const {
    const std::size_t part = state.replacing * StepTable::replacing + state.bonus * StepTable::bonus;
    place.own = alias_slot(pick, bits_);
    place.fraction = alias_fraction(pick, bits_);
    place.slot = slots_ + ((part * contexts_ + place.context) << bits_) + place.own;
    __builtin_prefetch(place.slot);
  }

  Fate step(Place& place, const Step& step, QuickWork& work) const {
    const StepSlot& slot = *place.slot;
    ++work.reads;
    const std::uint32_t own = place.fraction < slot.cut;
    const std::uint32_t token = select(own, place.own, slot.other);
    const std::uint32_t threshold = select(own, slot.coin, slot.other_coin);
    const std::uint32_t coin = coin_bits_of(step.coin);
    std::uint32_t emitted = static_cast<std::uint32_t>(coin < threshold) | (1U - step.state.drafting);
    if (coin == threshold) [[unlikely]] {
      emitted = exact_coin(place, step, static_cast<Token>(token)) ? 1 : 1U - step.state.drafting;
    }
    place.overlap += overlap_[place.context] & (std::uint64_t{0} - emitted);
    place.context = select(emitted, after(place.context, token), place.context);
    return static_cast<Fate>(emitted);
  }

 private:
  std::uint32_t after(std::uint32_t context, std::uint32_t token) const {
    if constexpr (Order == 0) return 0;
    if constexpr (Order == 1) return token;
    return context % kept_contexts_ * vocab_ + token;
  }

  /// The upper bits did not tell: one coin in 2^32.
  bool exact_coin(const Place& place, const Step& step, Token token) const {
    const double p = table_->target_row(place.context)[token];
    const double q = table_->draft_row(place.context)[token];
    return open_unit(step.coin) < rule_.kept(p, q);
  }

  const StepTable* table_;
  Rule rule_;
  const StepSlot* slots_;
  const std::uint64_t* overlap_;
  int bits_;
  std::uint32_t vocab_;
  std::uint32_t kept_contexts_;
  std::size_t contexts_;
};

}  // namespace speclab
