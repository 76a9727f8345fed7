// Reads files compressed by gzip (RFC 1952) as a whole.
#pragma once

#include <string>
#include <string_view>

namespace speclab {

/// Returns true if the bytes begin with gzip's signature.
bool is_gzip(std::string_view bytes);

/// Returns the decompressed contents of all members of the file. Throws std::runtime_error if it is damaged,
/// cut off, or holds more than 1 GiB.
std::string gunzip(std::string_view bytes);

}  // namespace speclab
