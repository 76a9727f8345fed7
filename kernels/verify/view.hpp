// Describes padded, flattened and slotted arrays of requests' numbers in one form.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

namespace speclab {

/// An array with an entry for each request and position, which is element
///     (index[request], or without an index request) * request_stride + position * row_stride.
/// Padded arrays have no index, flattened ones an index of cumulative counts and both strides 1, slotted ones
/// an index of slots. A stride may be 0: then one entry serves all positions, or all requests.
template <class T>
struct View {
  /// The value of request_stride for dense requests: each has as many positions as the field's shape says,
  /// and one request follows the other.
  static constexpr std::int64_t dense = INT64_MIN;

  T* data = nullptr;
  const std::int32_t* index = nullptr;  ///< [requests]; trusted, as pointers are
  std::int64_t request_stride = dense;
  std::int64_t row_stride = 1;

  constexpr View() = default;
  /// Views a dense array [requests, positions].
  SPECLAB_HD constexpr View(T* array) : data(array) {}  // NOLINT(google-explicit-constructor)
  SPECLAB_HD constexpr View(T* first, const std::int32_t* places, std::int64_t of_request,
                            std::int64_t of_row)
      : data(first), index(places), request_stride(of_request), row_stride(of_row) {}

  SPECLAB_HD bool operator==(std::nullptr_t) const { return data == nullptr; }

  /// Returns the address of an entry. `positions`: entries per request if the array is dense.
  SPECLAB_HD T* at(std::int64_t request, std::int32_t position, std::int32_t positions) const {
    const std::int64_t number = index == nullptr ? request : std::int64_t{index[request]};
    return data + number * (request_stride == dense ? positions : request_stride) + position * row_stride;
  }

  /// Returns a view of the array that begins at request `first`.
  View from(std::int64_t first, std::int32_t positions) const {
    View part = *this;
    if (data == nullptr) return part;
    if (index != nullptr) {
      part.index += first;
    } else {
      part.data = at(first, 0, positions);
    }
    return part;
  }
};

}  // namespace speclab
