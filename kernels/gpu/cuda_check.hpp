// Turns CUDA errors into exceptions, and owns device memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace speclab {

inline void cuda_check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                           cudaGetErrorString(error));
}

#define SPECLAB_CUDA(call) ::speclab::cuda_check((call), #call, __FILE__, __LINE__)

/// The byte that scratch is filled with before it is used: absurd as a count and as a probability.
inline constexpr int absurd_byte = 0xa5;

struct CudaFree {
  void operator()(void* pointer) const { cudaFree(pointer); }
};

template <class T>
using DeviceArray = std::unique_ptr<T[], CudaFree>;

/// Allocates `count` elements on the device. Allocates one when count is 0, since a null pointer would be an
/// error.
template <class T>
DeviceArray<T> device_array(std::size_t count) {
  void* pointer = nullptr;
  SPECLAB_CUDA(cudaMalloc(&pointer, (count == 0 ? 1 : count) * sizeof(T)));
  return DeviceArray<T>(static_cast<T*>(pointer));
}

/// Copies `count` elements to the device, after room for `before` elements. The copy has arrived on return:
/// cudaMemcpy alone may return earlier, and non-blocking streams would not wait for it.
template <class T>
DeviceArray<T> device_copy(const T* host, std::size_t count, std::size_t before = 0) {
  DeviceArray<T> device = device_array<T>(before + count);
  SPECLAB_CUDA(cudaMemcpy(device.get() + before, host, count * sizeof(T), cudaMemcpyHostToDevice));
  SPECLAB_CUDA(cudaDeviceSynchronize());
  return device;
}

}  // namespace speclab
