// A file as bytes in memory, read by the operating system where they are looked at.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace speclab {

/// Read only; the file must not be shortened meanwhile.
class MappedFile {
 public:
  /// Throws std::runtime_error, which says why, for a file that cannot be opened or is no regular file.
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
