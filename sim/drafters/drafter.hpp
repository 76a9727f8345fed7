// What drafts the tokens of a round: rows one position after the other, from a memory of the sequence.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"

namespace speclab {

/// A drafter is immutable and shared between threads; what it remembers of one sequence is a Memory, whose
/// copies are independent.
///
/// `read(memory, context)` takes in settled tokens (prompt and emitted ones). It is called once at the start
/// of each round, with the same sequence grown at its end. Its time is proportional to the new tokens, up to
/// constants and logarithms that each drafter states.
///
/// `propose(memory, context, position, storage)` is the row that the round's drafted token number `position`,
/// from 0, is drawn from; positions are asked in order, and asking for the last one again gives the same row.
/// `context` is what was read, followed by the `position` tokens drafted in this round. A row of size 0:
/// there is nothing to propose, or nothing more. The row views `storage`, the drafter or a model, and stays
/// valid until `storage` is used again.
///
/// `runs(drafted)` is the number of runs, one after the other, that drafting so many tokens took, in the unit
/// whose time is the drafter's c (Leviathan et al. 2023, section 3.3).
template <class D>
concept RowDrafter = std::default_initializable<typename D::Memory> && std::copyable<typename D::Memory> &&
    requires(const D& drafter, typename D::Memory& memory, std::span<const Token> context,
             std::int32_t number, std::vector<double>& storage) {
  { drafter.vocab() } -> std::same_as<std::int32_t>;
  { drafter.read(memory, context) } -> std::same_as<void>;
  { drafter.propose(memory, context, number, storage) } -> std::same_as<Row>;
  { drafter.runs(number) } -> std::same_as<std::int32_t>;
};

}  // namespace speclab
