// UTF-8: what is well-formed, and where text stops being so.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace speclab {

/// Length of the well-formed UTF-8 sequence at the front (Unicode 15, table 3-7), 0 when there is none.
std::size_t utf8_length(std::string_view text);

/// Where the first byte stands that belongs to no well-formed sequence; none where all do.
std::optional<std::size_t> first_not_utf8(std::string_view text);

}  // namespace speclab
