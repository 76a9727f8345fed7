// The grammar of a request: a deterministic finite automaton over tokens. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/token.hpp"

namespace speclab {

/// The tokens that a state allows, each with the number of the state that follows.
struct GrammarState {
  std::map<Token, std::int32_t> next = {};
  std::optional<std::int32_t> other = {};  ///< the state after each other token; empty: none is allowed

  std::optional<std::int32_t> after(Token token) const {
    const auto found = next.find(token);
    return found == next.end() ? other : found->second;
  }
  /// Returns the only token that is allowed; empty if there are several.
  std::optional<Token> forced() const {
    return !other && next.size() == 1 ? std::optional(next.begin()->first) : std::nullopt;
  }
};

/// The states; 0 is the first. Without states there is no grammar.
using Grammar = std::vector<GrammarState>;

/// Returns the state after these tokens. A token that is not allowed leaves the state as it is.
inline const GrammarState& state_after(const Grammar& grammar, std::span<const Token> tokens) {
  std::int32_t state = 0;
  for (const Token token : tokens)
    state = grammar[static_cast<std::size_t>(state)].after(token).value_or(state);
  return grammar[static_cast<std::size_t>(state)];
}

/// Returns a state in which the grammar allows no token that `may` accepts, given a token and the number of
/// tokens before it; empty if there is none. `vocab` tokens exist. `may` must not refuse a token that it
/// accepts after fewer tokens.
template <class May>
std::optional<std::size_t> dead_end(const Grammar& grammar, std::int32_t vocab, const May& may) {
  std::vector<std::size_t> found{0};  // by the fewest tokens before them
  std::vector<std::size_t> tokens_before(grammar.size(), 0);
  std::vector<bool> seen(grammar.size(), false);
  seen.front() = true;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t state = found[i];
    bool ends = true;
    for (Token token = 0; token < vocab; ++token) {
      const std::optional<std::int32_t> after = grammar[state].after(token);
      if (!after || !may(token, tokens_before[state])) continue;
      ends = false;
      const auto to = static_cast<std::size_t>(*after);
      if (seen[to]) continue;
      seen[to] = true;
      tokens_before[to] = tokens_before[state] + 1;
      found.push_back(to);
    }
    if (ends) return state;
  }
  return std::nullopt;
}

}  // namespace speclab
