// Reading a whole file, and errors that name it.
#pragma once

#include <filesystem>
#include <string>

#include "sim/error.hpp"

namespace speclab {

enum class Encoding { any, utf8 };

/// Whether reading a file would never end: a device such as /dev/zero, but no terminal, which a person ends,
/// and not /dev/null.
bool is_endless(const std::filesystem::path& file);

/// The content of a file. Throws ModelError, naming the file, when it cannot be read, is endless, has more
/// than 2 GiB, or is not UTF-8 and has to be, saying where.
std::string load_text(const std::filesystem::path& file, Encoding encoding = Encoding::any);

/// Calls make() and puts `where` in front of what it complains about.
template <class Make>
auto naming(const std::string& where, const Make& make) {
  try {
    return make();
  } catch (const ModelError& error) {
    throw ModelError(where + ": " + error.what());
  }
}

}  // namespace speclab
