// Maps a file into memory; the operating system reads the parts that are accessed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace speclab {

/// A read-only mapping. The file must not be shortened during its lifetime.
class MappedFile {
 public:
  /// Throws std::runtime_error, which gives the reason, if the file cannot be opened or is not a regular
  /// file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {begin_, size_}; }

 private:
  const char* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace speclab
