#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/gpu/launch_on_gpu.hpp"
#include "kernels/verify/dispatch.hpp"

namespace speclab {

template <class Program>
void launch_on_gpu(const VerifyBatch& batch, void* workspace, CUstream_st* stream) {
  Program::run(simt::CudaExecutor(stream), batch, workspace);
}

template void launch_on_gpu<OverScratch<baseline::Program>>(const VerifyBatch&, void*, CUstream_st*);
template void launch_on_gpu<OverScratch<wagner::Exact>>(const VerifyBatch&, void*, CUstream_st*);
template void launch_on_gpu<OverScratch<wagner::SigmoidProgram>>(const VerifyBatch&, void*, CUstream_st*);

}  // namespace speclab
