// A limit that drafters and gamma policies share.
#pragma once

#include <cstdint>

namespace speclab {

/// The most tokens per round that a config can ask to draft.
inline constexpr std::int32_t max_tokens_drafted = 64;

}  // namespace speclab
