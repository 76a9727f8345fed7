// Hashes input files, so that a result can state which contents it was computed from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace speclab {

/// Returns SHA-256 as 64 hexadecimal digits, as `sha256sum` prints it.
std::string sha256(std::string_view bytes);

/// A file that a run reads.
struct InputFile {
  std::string file;  ///< path as the config gives it
  std::uint64_t bytes = 0;
  std::string sha256;
  bool operator==(const InputFile&) const = default;
};

/// Hashes a file or, for a folder of texts, all its files with their names. Throws ConfigError if it cannot
/// be read, or has no end (a device, a pipe).
InputFile input_file_of(const std::string& file);

}  // namespace speclab
