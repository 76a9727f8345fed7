// One step of a fast round (tests/core/fast/fast_round.hpp without proposals, on BlockRandomSource) over a
// pair of stored tables: it draws a token from one slot and makes its acceptance draw. CPU threads and GPU
// kernels run the same step.
#pragma once

#include <cstdint>

#include "core/distribution/row.hpp"
#include "core/fast/round_states.hpp"
#include "core/fast/sampling_slots.hpp"
#include "core/random/alias.hpp"
#include "core/random/bernoulli_bits.hpp"
#include "core/random/philox.hpp"
#include "core/token.hpp"

namespace speclab {

/// A prepared pair of tables. Context c of the pair has row c % target_contexts of the target and c %
/// draft_contexts of the draft.
struct PreparedPairView {
  const SamplingSlot* slots;     ///< [slot_parts][contexts][2^bits]
  const std::uint64_t* overlap;  ///< [contexts] the rule's acceptance rate, in units of 2^-32
  const double* target;  ///< [target_contexts][vocab] the target's rows, read by one acceptance draw in 2^32
  const double* draft;   ///< [draft_contexts][vocab] the draft's rows
  std::uint64_t contexts;  ///< vocab^order for the larger order
  std::uint32_t target_contexts;
  std::uint32_t draft_contexts;
  std::uint32_t vocab;
  std::uint32_t suffix_contexts;  ///< contexts / vocab, the number of contexts without their oldest token
  std::int32_t bits;              ///< bits of an index into an alias table
};

/// The slot that a step reads, the slot's own token, and the number compared with the slot's cut.
struct SlotChoice {
  const SamplingSlot* slot;
  std::uint32_t own;
  std::uint32_t fraction;
};

SPECLAB_HD inline SlotChoice choose_slot(const PreparedPairView& tables, const RoundState& state,
                                         std::uint32_t context, std::uint64_t selector) {
  const std::uint64_t part = state.replacing * replacing_part + state.bonus * bonus_part;
  const std::uint32_t own = alias_slot(selector, tables.bits);
  return {tables.slots + ((part * tables.contexts + context) << static_cast<unsigned>(tables.bits)) + own,
          own, alias_fraction(selector, tables.bits)};
}

/// The drawn token, and whether it was emitted: 1 or 0.
struct StepResult {
  std::uint32_t token;
  std::uint32_t emitted;
};

/// Makes the acceptance draw of a drafted token from the probabilities themselves: once in 2^32 draws the
/// upper bits do not decide.
template <class Rule>
SPECLAB_RARE SPECLAB_HD bool exact_acceptance(const PreparedPairView& tables, const Rule& rule,
                                              std::uint32_t context, std::uint32_t token,
                                              std::uint64_t acceptance_word) {
  const auto vocab = static_cast<std::int32_t>(tables.vocab);
  const Row target{tables.target + std::uint64_t{context % tables.target_contexts} * tables.vocab, vocab};
  const Row draft{tables.draft + std::uint64_t{context % tables.draft_contexts} * tables.vocab, vocab};
  return open_unit(acceptance_word) < rule.acceptance(static_cast<Token>(token), target, draft);
}

/// Takes a step. `slot` is the one that `choice` names, and `acceptance_word` the second word of the block
/// whose first word chose it.
template <class Rule>
SPECLAB_HD StepResult take_step(const PreparedPairView& tables, const Rule& rule, const RoundState& state,
                                std::uint32_t context, const SlotChoice& choice, const SamplingSlot& slot,
                                std::uint64_t acceptance_word) {
  const std::uint32_t own = choice.fraction < slot.cut;
  const std::uint32_t token = select(own, choice.own, slot.other);
  const std::uint32_t threshold = select(own, slot.acceptance, slot.other_acceptance);
  const std::uint32_t bits = bernoulli_bits_of(acceptance_word);
  std::uint32_t emitted = static_cast<std::uint32_t>(bits < threshold) | (1U - state.drafting);
  if (bits == threshold) [[unlikely]]
    emitted = exact_acceptance(tables, rule, context, token, acceptance_word) ? 1 : 1U - state.drafting;
  return {token, emitted};
}

/// Returns the context after a token. `Order` is 0, 1, or 2 for all higher orders.
template <int Order>
SPECLAB_HD std::uint32_t next_context(const PreparedPairView& tables, std::uint32_t context,
                                      std::uint32_t token) {
  if constexpr (Order == 0) {
    return 0;
  } else if constexpr (Order == 1) {
    return token;
  } else {
    return context % tables.suffix_contexts * tables.vocab + token;
  }
}

}  // namespace speclab
