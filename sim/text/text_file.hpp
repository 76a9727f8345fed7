// Reads a file, and its lines; errors name it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "sim/error.hpp"

namespace speclab {

enum class Encoding { any, utf8 };

/// Returns whether reading a file would never end: true for a device such as /dev/zero, false for /dev/null
/// and a terminal.
bool is_endless(const std::filesystem::path& file);

/// Returns the content of a file. Throws ModelError, naming the file, if it cannot be read, is endless, has
/// more than 2 GiB, or must be UTF-8 and is not; the message says where.
std::string load_text(const std::filesystem::path& file, Encoding encoding = Encoding::any);

/// Cuts the next line off `text`, and returns it without its line break.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Calls make() and puts `where` before the messages of its errors.
template <class Make>
auto naming(const std::string& where, const Make& make) {
  try {
    return make();
  } catch (const ModelError& error) {
    throw ModelError(where + ": " + error.what());
  }
}

}  // namespace speclab
