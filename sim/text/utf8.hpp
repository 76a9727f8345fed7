// Checks whether text is well-formed UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace speclab {

/// Returns the length of the well-formed UTF-8 sequence at the front (Unicode 15, table 3-7), 0 if there is
/// none.
std::size_t utf8_length(std::string_view text);

/// Returns the position of the first byte that belongs to no well-formed sequence; none if all do.
std::optional<std::size_t> first_not_utf8(std::string_view text);

}  // namespace speclab
