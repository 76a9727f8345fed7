// The checks that batches of chains and of trees share, part by part.
#pragma once

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

/// The bound keeps every product of sizes and strides well inside 64 bits.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 57;

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
  Error stride_error = std::nullopt;

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
Memory view(const std::string& name, const View<T>& view, std::int64_t requests, std::int64_t positions) {
  const bool dense = view.request_stride == View<T>::dense;
  const std::int64_t of_request = dense ? positions : view.request_stride;
  const auto error = [&name](const char* which, std::int64_t stride, std::int64_t count) {
    return count > 1 ? range_error((name + which).c_str(), stride, 0, max_elements / count) : std::nullopt;
  };
  Error wrong = error(".request_stride", of_request, requests);
  if (!wrong) wrong = error(".row_stride", view.row_stride, positions);
  const bool one = wrong || view.index != nullptr;
  const std::int64_t last = one ? 0 : (requests - 1) * of_request + (positions - 1) * view.row_stride;
  Memory memory = array(name, view.data, requests * positions == 0 ? 0 : last + 1);
  memory.stride_error = std::move(wrong);
  return memory;
}

/// Returns all arrays of the batch that are not null. Strides must have been checked.
std::vector<Memory> memory_of(const VerifyBatch& batch, std::int32_t draft_positions, const void* workspace,
                              std::size_t needed);

/// Checks each array for alignment and size, and all of them for overlaps.
Error memory_error(const std::vector<Memory>& all);

}  // namespace speclab
