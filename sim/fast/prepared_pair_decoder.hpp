// Steps of quick rounds over a pair of stored tables: core/table_step.hpp for many sequences that take turns.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fast/prepared_pair_step.hpp"
#include "sim/fast/interleaved.hpp"
#include "sim/fast/prepared_pair.hpp"

namespace speclab {

/// `Order` is 0 or 1, or 2 for all others.
template <PointwiseRule Rule, int Order>
class TableSteps {
 public:
  struct Place {
    std::uint32_t context = 0;
    std::uint64_t overlap = 0;
    SlotChoice choice{};  ///< what the next step reads
  };

  static constexpr int looks = 1;
  static constexpr bool surveys = false;
  static constexpr bool repeats = false;

  TableSteps(const StepTable& table, const Rule& rule) : table_(&table), tables_(table.view()), rule_(rule) {}

  Place start(const std::vector<Token>& prompt) const { return {table_->context_of(prompt)}; }

  template <int>
  void look(Place& place, const RoundState& state, std::uint64_t pick) const {
    place.choice = choose_slot(tables_, state, place.context, pick);
    __builtin_prefetch(place.choice.slot);
  }

  Fate step(Place& place, const Step& step, QuickWork& work) const {
    ++work.reads;
    const auto [token, emitted] =
        take_step(tables_, rule_, step.state, place.context, place.choice, *place.choice.slot, step.coin);
    place.overlap += tables_.overlap[place.context] & (std::uint64_t{0} - emitted);
    place.context = select(emitted, next_context<Order>(tables_, place.context, token), place.context);
    return static_cast<Fate>(emitted);
  }

 private:
  const StepTable* table_;
  StepTables tables_;
  Rule rule_;
};

}  // namespace speclab
