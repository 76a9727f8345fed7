#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/gpu/launch_on_gpu.hpp"
#include "kernels/verify/dispatch.hpp"

namespace speclab {

template <>
void launch_on_gpu<FusedKernels>(const VerifyBatch& batch, void* workspace, CUstream_st* stream) {
  FusedKernels::run(simt::CudaExecutor(stream), batch, workspace);
}

}  // namespace speclab
