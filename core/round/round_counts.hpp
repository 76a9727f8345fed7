// The counts of one round, which code that sees no rows adds up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/token.hpp"

namespace speclab {

/// Runs of the models below the draft, if a draft is itself decoded speculatively: inner_runs[0] counts the
/// model that drafts for the draft, inner_runs[1] the one below it, and so on.
inline constexpr std::size_t max_inner_levels = 3;
using InnerRuns = std::array<std::int32_t, max_inner_levels>;

/// A sum of counts: 64 bits would hold only 2^32 terms of 32 bits. GCC and Clang have the type in every mode,
/// but warn about it under -Wpedantic without __extension__.
__extension__ using WideCount = unsigned __int128;

/// Counts of one round, and the token after the accepted ones.
struct Round {
  std::int32_t drafted = 0;     ///< tokens drafted
  std::int32_t draft_runs = 0;  ///< draft runs in sequence; the tokens of one depth share a run
  std::int32_t examined = 0;  ///< positions that verification reached: accepted, plus the rejected one if any
  std::int32_t accepted = 0;  ///< drafted tokens accepted
  Token next = invalid_token;  ///< the token after them; not an id if a row was invalid
  InnerRuns inner_runs = {};   ///< runs of the models that drafted for the draft
};

}  // namespace speclab
