#include "kernels/gpu/device.hpp"
#include "kernels/gpu/cuda_check.hpp"

namespace speclab {

namespace {

std::string version_name(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  SPECLAB_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

std::optional<GpuDevice> current_device() {
  if (!why_no_device().empty()) return std::nullopt;
  int index = 0;
  SPECLAB_CUDA(cudaGetDevice(&index));
  cudaDeviceProp properties;
  SPECLAB_CUDA(cudaGetDeviceProperties(&properties, index));
  int driver = 0;
  int runtime = 0;
  SPECLAB_CUDA(cudaDriverGetVersion(&driver));
  SPECLAB_CUDA(cudaRuntimeGetVersion(&runtime));
  GpuDevice device;
  device.name = properties.name;
  device.capability = properties.major * 10 + properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.memory_bytes = properties.totalGlobalMem;
  device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  device.clock_mhz = attribute(cudaDevAttrClockRate, index) / 1000;
  device.memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate, index) / 1000;
  device.driver = version_name(driver);
  device.runtime = version_name(runtime);
  return device;
}

std::string why_no_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  int driver = 0;
  if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess) {
    if (driver == 0) return "no CUDA driver on this machine";
    // All releases of a major version run on any driver of that major version.
    const std::string major = std::to_string(CUDART_VERSION / 1000);
    return "the driver is for CUDA " + version_name(driver) + ", and this library needs one for " + major +
           ".0 or later: update the driver, or take a library that was compiled with an older CUDA";
  }
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count == 0 ? "no CUDA device" : "";
}

}  // namespace speclab
