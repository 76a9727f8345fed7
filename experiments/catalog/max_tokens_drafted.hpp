// A limit that drafters and gamma policies share.
#pragma once

#include <cstdint>

namespace speclab {

/// The most tokens that a config can ask to be drafted in a round.
inline constexpr std::int32_t max_tokens_drafted = 64;

}  // namespace speclab
