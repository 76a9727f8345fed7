#include "kernels/gpu/launch_on_gpu.hpp"
#include "kernels/verify/dispatch.hpp"

namespace speclab {

void run_on_gpu(Implementation implementation, const VerifyBatch& batch, void* workspace,
                CUstream_st* stream) {
  with_implementation_for(batch, implementation,
                          [&]<class Kernels>(Kernels) { launch_on_gpu<Kernels>(batch, workspace, stream); });
}

}  // namespace speclab
