// What a file held, so that a result can say what it was computed from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace speclab {

/// SHA-256 in 64 hexadecimal digits, as `sha256sum` prints it.
std::string sha256(std::string_view bytes);

/// A file that a run reads.
struct InputFile {
  std::string file;  ///< its path as the config says it
  std::uint64_t bytes = 0;
  std::string sha256;
  bool operator==(const InputFile&) const = default;
};

/// Reads the whole file, or of a folder of texts all files with their names. Throws ConfigError for one that
/// cannot be read, or that ends only by its writer's will (a device, a pipe).
InputFile input_file_of(const std::string& file);

}  // namespace speclab
