#include "kernels/gpu/launch_on_gpu.hpp"
#include "kernels/gpu/row_formats.hpp"

namespace speclab {

template void FusedKernels::launch<float>(simt::CudaExecutor&, const FusedLayout&);

template <>
void launch_on_gpu<FusedKernels>(const VerifyBatch& batch, void* workspace, CUstream_st* stream) {
  FusedKernels::run(simt::CudaExecutor(stream), batch, workspace);
}

}  // namespace speclab
