// Reads arrays in NumPy's formats: .npy files, and .npz archives of several arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace speclab {

/// An array in C order, little-endian.
struct NpyArray {
  char kind = 'f';        ///< i, u or f, as in NumPy's descr; b: bfloat16, which NumPy lacks
  std::size_t bytes = 0;  ///< bytes of one number
  std::vector<std::size_t> shape;
  std::string_view data;                 ///< all numbers
  std::shared_ptr<const void> memory{};  ///< owns the memory that `data` views if the array was unpacked

  std::size_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  }
  /// Returns one number of an array of integers.
  std::int64_t integer(std::size_t index) const {
    std::uint64_t value = 0;
    std::memcpy(&value, data.data() + index * bytes, bytes);
    const auto unused = static_cast<int>(64 - 8 * bytes);
    return kind == 'i' ? static_cast<std::int64_t>(value << unused) >> unused
                       : static_cast<std::int64_t>(value);
  }
  /// Returns one number of an array of f4 or f8. Throws std::runtime_error for other types.
  double number(std::size_t index) const;
};

/// Parses an .npy file (format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). The
/// result views `bytes`. Throws std::runtime_error, which gives the reason ("its data are cut off") without
/// naming the file.
NpyArray parse_npy(std::string_view bytes);

/// An .npz archive: a zip file of .npy files. Arrays stored without compression (numpy.savez) view `bytes`;
/// compressed ones (numpy.savez_compressed) are unpacked.
class NpzArchive {
 public:
  /// Throws std::runtime_error if the bytes are not an archive.
  explicit NpzArchive(std::string_view bytes);

  /// Returns the names of the arrays, without ".npy".
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  /// Throws std::runtime_error if there is no array of this name or if it cannot be read.
  NpyArray array(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    std::uint16_t method = 0;  ///< 0: stored
    std::uint32_t checksum = 0;
    std::uint64_t packed = 0;  ///< bytes in the archive
    std::uint64_t size = 0;
    std::uint64_t header = 0;  ///< offset of its local header
  };
  const Entry* find(const std::string& name) const;
  std::string_view stored(const Entry& entry) const;
  NpyArray unpacked(const Entry& entry) const;

  std::string_view bytes_;
  std::vector<Entry> entries_;
};

}  // namespace speclab
