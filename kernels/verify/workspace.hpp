// Divides one piece of memory into the scratch of several launches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace speclab {

/// Hands out parts of a workspace, each aligned to 256 bytes. With a null workspace only their sizes count.
class WorkspaceParts {
 public:
  explicit WorkspaceParts(void* workspace) : base_(static_cast<unsigned char*>(workspace)) {}

  template <class T>
  T* take(std::int64_t count) {
    T* const part = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + bytes_);
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return part;
  }

  std::size_t bytes() const { return bytes_; }

 private:
  unsigned char* base_;
  std::size_t bytes_ = 0;
};

}  // namespace speclab
