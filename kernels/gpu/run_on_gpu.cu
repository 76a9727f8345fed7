#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/verify/dispatch.hpp"

namespace speclab {

void run_on_gpu(Implementation implementation, const VerifyBatch& batch, void* workspace,
                CUstream_st* stream) {
  with_implementation_for(batch, implementation,
                          [&](auto kernels) { kernels.run(simt::CudaExecutor(stream), batch, workspace); });
}

}  // namespace speclab
