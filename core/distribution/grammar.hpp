// The grammar of a request: a deterministic finite automaton over tokens. Host only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
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

/// Finds the states of texts that mostly extend one another, all under one grammar.
class GrammarWalk {
 public:
  /// Returns state_after(grammar, tokens), and follows only what differs from the tokens of the last call.
  const GrammarState& after(const Grammar& grammar, std::span<const Token> tokens) {
    const std::size_t common = std::min(tokens.size(), tokens_.size());
    // A round changes only the last tokens. All before them are compared at once, which is faster.
    const std::size_t old = common - std::min<std::size_t>(common, 64);
    std::size_t same =
        std::equal(tokens_.begin(), tokens_.begin() + std::ptrdiff_t(old), tokens.begin()) ? old : 0;
    while (same < common && tokens[same] == tokens_[same]) ++same;
    tokens_.resize(same);
    states_.resize(same + 1);
    for (const Token token : tokens.subspan(same)) {
      const std::int32_t state = states_.back();
      states_.push_back(grammar[static_cast<std::size_t>(state)].after(token).value_or(state));
      tokens_.push_back(token);
    }
    return grammar[static_cast<std::size_t>(states_.back())];
  }

 private:
  std::vector<Token> tokens_;
  std::vector<std::int32_t> states_{0};  ///< before the first token, and after each
};

/// A state that a text can reach, and that cannot be meant.
struct GrammarFault {
  std::size_t state;
  bool endless;  ///< from there each token is the only one that is allowed, for ever; else none is allowed
};

/// Returns such a state; empty if there is none. `vocab` tokens exist. `may(token, early)` says whether other
/// options allow a token, `early` whether fewer than `min_tokens` tokens come before it.
template <class May>
std::optional<GrammarFault> grammar_fault(const Grammar& grammar, std::int32_t vocab, std::size_t min_tokens,
                                          const May& may) {
  // Returns the states after the tokens that a state allows, one for each token; two of "other" suffice.
  const auto following = [&](std::size_t state, bool early) {
    std::vector<std::size_t> after;
    const auto& [next, other] = grammar[state];
    for (const auto& [token, to] : next)
      if (may(token, early)) after.push_back(static_cast<std::size_t>(to));
    const std::size_t enough = after.size() + 2;
    for (Token token = 0; other && token < vocab && after.size() < enough; ++token)
      if (!next.contains(token) && may(token, early)) after.push_back(static_cast<std::size_t>(*other));
    return after;
  };
  std::set<std::size_t> reached{0};
  for (std::size_t count = 0; count < min_tokens; ++count) {
    std::set<std::size_t> later;
    for (const std::size_t state : reached) {
      const std::vector<std::size_t> after = following(state, true);
      if (after.empty()) return GrammarFault{state, false};
      later.insert(after.begin(), after.end());
    }
    if (later == reached) break;
    reached.swap(later);
  }
  constexpr auto several = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> forced(grammar.size(), several);  // the state after a state's only token
  std::vector<std::size_t> found(reached.begin(), reached.end());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<std::size_t> after = following(found[i], false);
    if (after.empty()) return GrammarFault{found[i], false};
    if (after.size() == 1) forced[found[i]] = after.front();
    for (const std::size_t to : after)
      if (reached.insert(to).second) found.push_back(to);
  }
  for (std::size_t state : found) {
    for (std::size_t steps = 0; steps < grammar.size() && state != several; ++steps) state = forced[state];
    if (state != several) return GrammarFault{state, true};
  }
  return std::nullopt;
}

}  // namespace speclab
