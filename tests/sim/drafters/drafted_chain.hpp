// Returns the proposals of a drafter of point masses in one round.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "sim/drafters/drafter.hpp"

namespace speclab {

/// Returns the tokens of a round and checks that each is a point mass. Reads nothing.
template <RowDrafter D>
std::vector<Token> drafted_chain(const D& drafter, typename D::Memory& memory,
                                 std::span<const Token> settled) {
  std::vector<Token> context(settled.begin(), settled.end());
  std::vector<double> storage;
  while (context.size() < settled.size() + 1000) {
    const auto position = static_cast<std::int32_t>(context.size() - settled.size());
    const Row row = drafter.propose(memory, context, position, storage);
    if (row.size == 0) break;
    const Token token = argmax(row);
    CHECK(row[token] == 1);
    CHECK(total_probability(row) == 1);
    context.push_back(token);
  }
  return {context.begin() + static_cast<long>(settled.size()), context.end()};
}

/// Does the same after reading the whole context at once.
template <RowDrafter D>
std::vector<Token> fresh_chain(const D& drafter, std::span<const Token> settled) {
  typename D::Memory memory;
  drafter.read(memory, settled);
  return drafted_chain(drafter, memory, settled);
}

}  // namespace speclab
