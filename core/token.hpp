// A token id, and the two values that are never one.
#pragma once

#include <cstdint>

namespace speclab {

using Token = std::int32_t;

/// Drawing from weights whose total is zero gives this.
inline constexpr Token no_token = -1;

/// Drawing from weights whose total is NaN or infinite gives this: an invalid row never becomes an id.
inline constexpr Token invalid_token = -2;

}  // namespace speclab
