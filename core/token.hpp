// A token id, and the two values that are never one.
#pragma once

#include <cstdint>

namespace speclab {

using Token = std::int32_t;

/// Picking from weights whose total is zero gives this.
inline constexpr Token no_token = -1;

/// Picking from weights whose total is NaN or infinite gives this: a damaged row never becomes an id.
inline constexpr Token invalid_token = -2;

}  // namespace speclab
