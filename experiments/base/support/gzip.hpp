// Files compressed by gzip (RFC 1952), read whole.
#pragma once

#include <string>
#include <string_view>

namespace speclab {

/// Whether bytes begin as those of gzip do.
bool is_gzip(std::string_view bytes);

/// What was compressed, of all members of the file. std::runtime_error when it is damaged, cut off, or more
/// than 1 GiB.
std::string gunzip(std::string_view bytes);

}  // namespace speclab
