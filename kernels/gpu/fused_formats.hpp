// Fused verification on a GPU, where the kernels of each format of rows are compiled in a file of their own.
// Included by .cu files only.
#pragma once

#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/verify/fused_layout.hpp"

namespace speclab {

extern template void FusedKernels::launch<float>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<Bf16>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<F16>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<AnyLogit>(simt::CudaExecutor&, const FusedLayout&);

}  // namespace speclab
