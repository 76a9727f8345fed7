// A pair of rows, prepared so that one step of a quick round reads one slot of 16 bytes: of the alias table
// of the row that is drawn from, with the coin of each token beside it. Residuals have tables of their own,
// so that a replacement needs no proposals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/random/alias.hpp"
#include "core/random/bernoulli_bits.hpp"
#include "core/rules/pointwise_rules.hpp"
#include "core/distribution/row.hpp"

namespace speclab {

/// The coins are those of the slot's own token and of the other one, as coin_bits; drafted tokens alone have
/// them. Aligned, so that a GPU reads it at once.
struct alignas(16) StepSlot {
  std::uint32_t cut;
  std::uint32_t other;
  std::uint32_t coin;
  std::uint32_t other_coin;
};

/// What is drawn from: the draft's row, the residual, the target's row.
enum StepPart : std::uint32_t { drafting_part, replacing_part, bonus_part };
inline constexpr std::size_t step_parts = 3;

/// Room for making slots; reuse it to avoid allocation.
struct StepScratch {
  AliasScratch scratch;
  std::vector<AliasSlot> alias;
  std::vector<double> weights;
};

/// The alias table of `weights`, with coin(token), a probability, beside each token. Host only.
template <class Coin>
void fill_step_slots(std::span<const double> weights, const Coin& coin, std::span<StepSlot> slots,
                     StepScratch& room) {
  room.alias.resize(slots.size());
  build_alias(weights, room.alias, room.scratch);
  const auto upper = [&](std::uint32_t item) {
    return item < weights.size() ? coin_bits(coin(static_cast<Token>(item))) : 0;
  };
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    slots[i] = {room.alias[i].cut, room.alias[i].other, upper(i), upper(room.alias[i].other)};
  }
}

/// One context's slots of one part: 2^alias_bits(vocab) of them. Host only.
template <PointwiseRule Rule>
void fill_step_part(StepPart part, const Rule& rule, Row target, Row draft, std::span<StepSlot> slots,
                    StepScratch& room) {
  const auto size = static_cast<std::size_t>(target.size);
  const auto none = [](Token) { return 0.0; };
  if (part == drafting_part) {
    fill_step_slots(
        {draft.mass, size}, [&](Token token) { return rule.kept(target[token], draft[token]); }, slots, room);
  } else if (part == bonus_part) {
    fill_step_slots({target.mass, size}, none, slots, room);
  } else {
    const auto weights = rule.replacement(target, draft);
    // Without mass the target stands in for it, as in `pick_or`.
    const bool some = total_mass(weights) > 0;
    room.weights.resize(size);
    for (Token token = 0; token < target.size; ++token) {
      room.weights[static_cast<std::size_t>(token)] = some ? weights[token] : target[token];
    }
    fill_step_slots(room.weights, none, slots, room);
  }
}

}  // namespace speclab
