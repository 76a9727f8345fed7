#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/gpu/launch_on_gpu.hpp"
#include "kernels/verify/cluster_layout.hpp"

namespace speclab {

template <>
void launch_on_gpu<ClusterKernels>(const VerifyBatch& batch, void* workspace, CUstream_st* stream) {
  ClusterKernels::run(simt::CudaExecutor(stream), batch, workspace);
}

}  // namespace speclab
