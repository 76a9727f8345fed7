// Defines drafters: sources of drafted tokens, which return a row for one position of a round after the
// other.
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
/// `read(memory, context)` reads the prompt and the emitted tokens. It is called once at the start of each
/// round, each time with the sequence extended by the last round's tokens. Its time is proportional to the
/// new tokens, up to constants and logarithms that each drafter states.
///
/// `propose(memory, context, position, storage)` returns the row from which the round's drafted token number
/// `position`, counted from 0, is drawn. Positions are requested in order; a repeated request for the last
/// one returns the same row. `context` is the context that was read, followed by the `position` tokens
/// drafted in this round. A row of size 0 means that the drafter has no (further) proposal. The row views
/// `storage`, the drafter or a model, and stays valid until `storage` is used again.
///
/// `runs(drafted)` returns the number of sequential runs that drafting `drafted` tokens took. The time of one
/// such run defines the drafter's c (Leviathan et al. 2023, section 3.3).
template <class D>
concept RowDrafter = std::default_initializable<typename D::Memory> && std::copyable<typename D::Memory> &&
    requires(const D& drafter, typename D::Memory& memory, std::span<const Token> context,
             std::int32_t number, std::vector<double>& storage) {
  { drafter.read(memory, context) } -> std::same_as<void>;
  { drafter.propose(memory, context, number, storage) } -> std::same_as<Row>;
  { drafter.runs(number) } -> std::same_as<std::int32_t>;
};

}  // namespace speclab
