// Prepares a pair of rows so that one step of a fast round reads one slot of 16 bytes: a slot of the drawn
// row's alias table, with the acceptance probability of each of its two tokens. Residuals have their own
// tables, so that a replacement needs no proposals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"
#include "core/random/alias.hpp"
#include "core/random/bernoulli_bits.hpp"
#include "core/rules/position_rules.hpp"

namespace speclab {

/// Acceptance probabilities of the slot's own and other token, as bernoulli_bits; 0 in tables of the residual
/// and the bonus. The alignment lets a GPU read the slot in one access.
struct alignas(16) SamplingSlot {
  std::uint32_t cut;
  std::uint32_t other;
  std::uint32_t acceptance;
  std::uint32_t other_acceptance;
};

/// The row that is drawn from: the draft's row, the residual, or the target's row.
enum SlotPart : std::uint32_t { drafting_part, replacing_part, bonus_part };
inline constexpr std::size_t slot_parts = 3;

/// Scratch for making slots; reuse it to avoid allocation.
struct SlotScratch {
  AliasScratch build;
  std::vector<AliasSlot> alias;
};

/// Fills the alias table of `weights`, and stores acceptance(token), a probability, with each token. Host
/// only.
template <class Acceptance>
void fill_sampling_slots(std::span<const double> weights, const Acceptance& acceptance,
                         std::span<SamplingSlot> slots, SlotScratch& scratch) {
  scratch.alias.resize(slots.size());
  build_alias(weights, scratch.alias, scratch.build);
  const auto upper = [&](std::uint32_t item) {
    return item < weights.size() ? bernoulli_bits(acceptance(static_cast<Token>(item))) : 0;
  };
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    slots[i] = {scratch.alias[i].cut, scratch.alias[i].other, upper(i), upper(scratch.alias[i].other)};
}

/// Fills the 2^alias_bits(vocab) slots of one context for one use: drafting, bonus or replacement (SlotPart).
/// Host only.
inline void fill_slot_part(SlotPart part, const PositionWeights& weights, Row draft,
                           std::span<SamplingSlot> slots, SlotScratch& scratch) {
  const auto none = [](Token) { return 0.0; };
  if (part == drafting_part) {
    fill_sampling_slots(
        {draft.probabilities, static_cast<std::size_t>(draft.size)},
        [&](Token token) { return weights.acceptance[static_cast<std::size_t>(token)]; }, slots, scratch);
  } else {
    fill_sampling_slots(part == bonus_part ? weights.bonus : weights.replacement, none, slots, scratch);
  }
}

}  // namespace speclab
