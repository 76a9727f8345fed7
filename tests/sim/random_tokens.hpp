// Small random inputs for the n-gram tests.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random/philox.hpp"
#include "core/token.hpp"

namespace speclab {

inline Philox world(std::uint64_t seed) { return {seed, Site{0, 0, Draw{Use::world, 0}}}; }

/// Returns `length` ids below `used`, the smaller ones more often.
inline std::vector<Token> random_tokens(std::uint64_t seed, std::size_t length, std::uint64_t used) {
  Philox stream = world(seed);
  std::vector<Token> tokens;
  while (tokens.size() < length) tokens.push_back(static_cast<Token>(stream() % (1 + stream() % used)));
  return tokens;
}

/// Returns every context of exactly `length` tokens below `vocab`.
inline std::vector<std::vector<Token>> all_contexts(std::int32_t vocab, int length) {
  std::vector<std::vector<Token>> contexts{{}};
  for (int k = 0; k < length; ++k) {
    std::vector<std::vector<Token>> longer;
    for (const auto& context : contexts) {
      for (Token token = 0; token < vocab; ++token) {
        longer.push_back(context);
        longer.back().push_back(token);
      }
    }
    contexts = std::move(longer);
  }
  return contexts;
}

}  // namespace speclab
