// Drafts the tokens of a round: gives a row for one position after the other, from a memory of the sequence.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"

namespace speclab {

/// A drafter is immutable and shared between threads. Its memory of one sequence is a Memory; copies of it
/// are independent.
///
/// `read(memory, context)` reads settled tokens (prompt and emitted ones). It is called once at the start of
/// each round, with the same sequence grown at its end. Its time is proportional to the new tokens, up to
/// constants and logarithms that each drafter states.
///
/// `propose(memory, context, position, storage)` returns the row from which the round's drafted token number
/// `position`, counted from 0, is drawn. Positions are asked in order; asking for the last one again gives
/// the same row. `context` is the context that was read, followed by the `position` tokens drafted in this
/// round. A row of size 0 means that there is nothing (more) to propose. The row views `storage`, the drafter
/// or a model, and stays valid until `storage` is used again.
///
/// `runs(drafted)` returns the number of sequential runs that drafting `drafted` tokens took. The time of one
/// such run defines the drafter's c (Leviathan et al. 2023, section 3.3).
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
