// A limit that drafters and gamma policies share.
#pragma once

#include <cstdint>

namespace speclab {

/// Largest number of drafted tokens per round that a config may ask for.
inline constexpr std::int32_t max_tokens_drafted = 64;

}  // namespace speclab
