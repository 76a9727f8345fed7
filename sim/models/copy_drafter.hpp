// A draft that costs nothing: copy what followed the last time the context ended like this (Leviathan et al.
// 2023, section 3.6, on approximation models that copy tokens from the context).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/row.hpp"

namespace speclab {

/// Satisfies LanguageModel. Finds the longest suffix of the context, between `min_match` and `max_match`
/// tokens, that also occurs earlier; all probability goes to the token that followed its most recent earlier
/// occurrence. The uniform row when there is none. Time: vocab + context length, times the length of the
/// matches met.
class CopyDrafter {
 public:
  /// vocab >= 1, 1 <= min_match <= max_match.
  explicit CopyDrafter(std::int32_t vocab, std::int32_t min_match = 1, std::int32_t max_match = 16)
      : min_match_(static_cast<std::size_t>(min_match)),
        max_match_(static_cast<std::size_t>(max_match)),
        uniform_(static_cast<std::size_t>(vocab), 1.0 / vocab) {
    assert(vocab >= 1 && 1 <= min_match && min_match <= max_match);
  }

  std::int32_t vocab() const { return static_cast<std::int32_t>(uniform_.size()); }

  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    const Token token = copied(context);
    if (token == no_token) return {uniform_.data(), vocab()};
    scratch.assign(uniform_.size(), 0.0);
    scratch[static_cast<std::size_t>(token)] = 1;
    return {scratch.data(), vocab()};
  }

  /// The token the drafter copies, or `no_token`.
  Token copied(std::span<const Token> context) const {
    std::size_t longest = min_match_ - 1;
    Token found = no_token;
    // `end` is one past an earlier occurrence; going backwards, only a longer match beats a more recent one.
    for (std::size_t end = context.size(); end-- > 1 && longest < max_match_;) {
      const std::size_t limit = std::min(max_match_, end);
      std::size_t length = 0;
      while (length < limit && context[end - 1 - length] == context[context.size() - 1 - length]) ++length;
      if (length <= longest) continue;
      longest = length;
      found = context[end];
    }
    return found;
  }

 private:
  std::size_t min_match_;
  std::size_t max_match_;
  std::vector<double> uniform_;
};

}  // namespace speclab
