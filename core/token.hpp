// A token id, and the two values that are never an id.
#pragma once

#include <cstdint>

namespace speclab {

using Token = std::int32_t;

/// The result of a draw from weights whose total is zero.
inline constexpr Token no_token = -1;

/// The result of a draw from weights whose total is NaN or infinite: an invalid row never becomes an id.
inline constexpr Token invalid_token = -2;

}  // namespace speclab
