// Launches kernels on a GPU. Only .cu files include it.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/gpu/cuda_check.hpp"
#include "kernels/simt/launch.hpp"

namespace speclab::simt {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, Kernel::min_blocks)
    run_kernel(const __grid_constant__ typename Kernel::Args args) {
  Kernel{}(args);
}

/// The launch features of a device, queried once per device. Clusters and early launches came with compute
/// capability 9.0, but not every later device has clusters.
struct DeviceLaunches {
  bool clusters = false;
  bool early = false;
  int shared_bytes = 0;  ///< dynamic and static shared memory of a block

  static constexpr int max_devices = 64;

  static DeviceLaunches of(int device) {
    static const std::vector<DeviceLaunches> all = [] {
      int count = 0;
      SPECLAB_CUDA(cudaGetDeviceCount(&count));
      std::vector<DeviceLaunches> found(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) {
        const auto ask = [i](cudaDeviceAttr attribute) {
          int value = 0;
          SPECLAB_CUDA(cudaDeviceGetAttribute(&value, attribute, i));
          return value;
        };
        found[static_cast<std::size_t>(i)] = {ask(cudaDevAttrClusterLaunch) != 0,
                                              ask(cudaDevAttrComputeCapabilityMajor) >= 9,
                                              ask(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
      }
      return found;
    }();
    return all.at(static_cast<std::size_t>(device));
  }
};

/// Allows a kernel all the shared memory that a block of the device can have, once. Otherwise two host
/// threads that launch it with different sizes would change each other's limit.
template <class Kernel>
void allow_shared_memory(int device, const DeviceLaunches& can) {
  static std::array<std::once_flag, DeviceLaunches::max_devices> done;
  std::call_once(done.at(static_cast<std::size_t>(device)), [&can] {
    cudaFuncAttributes attributes{};
    SPECLAB_CUDA(cudaFuncGetAttributes(&attributes, run_kernel<Kernel>));
    SPECLAB_CUDA(cudaFuncSetAttribute(run_kernel<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      can.shared_bytes - static_cast<int>(attributes.sharedSizeBytes)));
  });
}

/// Translates a Launch to CUDA's launch configuration.
class LaunchConfig {
 public:
  LaunchConfig(const Launch& launch, const DeviceLaunches& can, cudaStream_t stream) {
    if (launch.early && can.early) {
      attributes_[config_.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes_[config_.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    const bool alone = launch.cluster > 1 && !can.clusters;
    if (launch.cluster > 1 && !alone) {
      attributes_[config_.numAttrs].id = cudaLaunchAttributeClusterDimension;
      attributes_[config_.numAttrs++].val.clusterDim = {static_cast<unsigned>(launch.cluster), 1, 1};
    }
    config_.gridDim = dim3(static_cast<unsigned>(alone ? launch.blocks / launch.cluster : launch.blocks));
    config_.blockDim = dim3(static_cast<unsigned>(launch.threads));
    config_.dynamicSmemBytes = launch.dynamic_shared;
    config_.stream = stream;
    config_.attrs = attributes_;
  }
  LaunchConfig(const LaunchConfig&) = delete;
  LaunchConfig& operator=(const LaunchConfig&) = delete;

  const cudaLaunchConfig_t* get() const { return &config_; }

 private:
  cudaLaunchAttribute attributes_[2];
  cudaLaunchConfig_t config_{};
};

/// Returns whether a device can place a cluster of this size with this much dynamic shared memory. Asks once
/// per kernel, device and size.
template <class Kernel>
bool places_cluster(const Launch& launch, int device, const DeviceLaunches& can) {
  static std::mutex mutex;
  static std::map<std::tuple<int, int, std::size_t>, bool> answers;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = answers.try_emplace({device, launch.cluster, launch.dynamic_shared}, false);
  if (!is_new) return at->second;
  SPECLAB_CUDA(cudaFuncSetAttribute(run_kernel<Kernel>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  allow_shared_memory<Kernel>(device, can);
  int clusters = 0;
  const cudaError_t found =
      cudaOccupancyMaxActiveClusters(&clusters, run_kernel<Kernel>, LaunchConfig(launch, can, nullptr).get());
  // CUDA returns an error for a cluster size that the device does not support; the answer is then false.
  if (found != cudaSuccess) cudaGetLastError();
  return at->second = found == cudaSuccess && clusters > 0;
}

/// Launches kernels on one stream. It never waits for the host, so that a launch can be captured in a graph.
class CudaExecutor {
 public:
  explicit CudaExecutor(cudaStream_t stream) : stream_(stream) {}

  /// Returns whether the current device can launch such clusters.
  template <class Kernel>
  bool takes(const Launch& launch) const {
    const auto [device, can] = current();
    return can.clusters &&
           (launch.cluster <= portable_cluster_blocks || places_cluster<Kernel>(launch, device, can));
  }

  /// Launches the kernel. Throws std::runtime_error with call, file and line if the launch is refused.
  template <class Kernel>
  void run(const Launch& launch, const typename Kernel::Args& args) const {
    if (launch.blocks == 0) return;
    const auto [device, can] = current();
    if (launch.cluster > 1 && launch.cluster_needed && !can.clusters)
      throw std::runtime_error(std::string(launch.kernel) + ": this device launches no clusters of blocks");
    if (launch.dynamic_shared > 0) allow_shared_memory<Kernel>(device, can);
    SPECLAB_CUDA(cudaLaunchKernelEx(LaunchConfig(launch, can, stream_).get(), run_kernel<Kernel>, args));
  }

 private:
  static std::pair<int, DeviceLaunches> current() {
    int device = 0;
    SPECLAB_CUDA(cudaGetDevice(&device));
    return {device, DeviceLaunches::of(device)};
  }

  cudaStream_t stream_;
};

}  // namespace speclab::simt
