#include "speclab/kernels/gpu/cuda_executor.hpp"
#include "speclab/kernels/verify/fused_plan.hpp"
#include "speclab/kernels/verify/implementation.hpp"

namespace speclab {

void run_on_gpu(Implementation, const VerifyBatch& batch, void* workspace, CUstream_st* stream) {
  run_fused(simt::CudaExecutor(stream), batch, workspace);
}

}  // namespace speclab
