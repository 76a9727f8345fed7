// The checks that batches of chains and of trees share, part by part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/simt/launch.hpp"
#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// A sentence with the field, its value and what is allowed; nothing if there is no mistake.
using Error = std::optional<std::string>;

Error range_error(const char* field, std::int64_t value, std::int64_t least, std::int64_t most);

/// Checks sizes, formats and options, but not the rule.
Error field_error(const VerifyBatch& batch);

/// Refuses a launch that no device can run.
Error launch_error(const VerifyBatch& batch, const simt::Launch& launch);

/// Checks null pointers and strides. `draft_positions`: the draft's rows per request.
Error array_error(const VerifyBatch& batch, std::int32_t draft_positions);

/// Memory that a kernel touches.
struct Memory {
  std::string name;
  const void* data;
  std::uint64_t elements;
  std::size_t element_bytes;
  std::size_t alignment;
  bool written;

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data); }
  std::uint64_t bytes() const { return elements * element_bytes; }
  std::string where() const;
};

template <class T>
Memory array(std::string name, T* data, std::int64_t elements) {
  return {std::move(name), data,       static_cast<std::uint64_t>(elements),
          sizeof(T),       alignof(T), !std::is_const_v<T>};
}

/// Returns the memory of a view. Since the extent of an array with an index is unknown, only its first entry
/// counts.
template <class T>
Memory view(std::string name, const View<T>& view, std::int64_t requests, std::int64_t positions) {
  const bool dense = view.request_stride == View<T>::dense;
  const std::int64_t of_request = dense ? positions : view.request_stride;
  const std::int64_t last =
      view.index != nullptr ? 0 : (requests - 1) * of_request + (positions - 1) * view.row_stride;
  return array(std::move(name), view.data,
               requests * positions == 0 ? 0 : std::max<std::int64_t>(last, 0) + 1);
}

/// Returns all arrays of the batch that are not null. Strides must have been checked.
std::vector<Memory> memory_of(const VerifyBatch& batch, std::int32_t draft_positions, const void* workspace,
                              std::size_t needed);

/// Checks each array for alignment and size, and all of them for overlaps.
Error memory_error(const std::vector<Memory>& all);

}  // namespace speclab
