// Launches kernels on a GPU. Included by .cu files only.
#pragma once

#include "kernels/gpu/cuda_check.hpp"
#include "kernels/simt/launch.hpp"

namespace speclab::simt {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, Kernel::min_blocks)
    run_kernel(const __grid_constant__ typename Kernel::Args args) {
  Kernel{}(args);
}

/// Launches on one stream. Nothing waits for the host, so that a launch can be captured in a graph.
class CudaExecutor {
 public:
  explicit CudaExecutor(cudaStream_t stream) : stream_(stream) {}

  /// Throws std::runtime_error with call, file and line when the launch is refused.
  template <class Kernel>
  void run(const Launch& launch, const typename Kernel::Args& args) const {
    if (launch.blocks == 0) return;
    if (launch.dynamic_shared > 0) {
      SPECLAB_CUDA(cudaFuncSetAttribute(run_kernel<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(launch.dynamic_shared)));
    }
    cudaLaunchAttribute attributes[2];
    unsigned count = 0;
    if (launch.early) {
      attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    const bool alone = launch.cluster > 1 && !launch.cluster_needed && !has_clusters();
    if (launch.cluster > 1 && !alone) {
      attributes[count].id = cudaLaunchAttributeClusterDimension;
      attributes[count++].val.clusterDim = {static_cast<unsigned>(launch.cluster), 1, 1};
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(alone ? launch.blocks / launch.cluster : launch.blocks));
    config.blockDim = dim3(static_cast<unsigned>(launch.threads));
    config.dynamicSmemBytes = launch.dynamic_shared;
    config.stream = stream_;
    config.attrs = attributes;
    config.numAttrs = count;
    SPECLAB_CUDA(cudaLaunchKernelEx(&config, run_kernel<Kernel>, args));
  }

 private:
  static bool has_clusters() {
    int device = 0;
    int major = 0;
    SPECLAB_CUDA(cudaGetDevice(&device));
    SPECLAB_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return major >= 9;
  }

  cudaStream_t stream_;
};

}  // namespace speclab::simt
