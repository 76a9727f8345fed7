// Fused verification on a GPU, where the kernels for rows of different formats are compiled in several files:
// together they take the compiler a minute. Included by .cu files only.
#pragma once

#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/verify/fused_layout.hpp"

namespace speclab {

extern template void FusedKernels::launch<float>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<Bf16>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<F16>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<AnyLogit>(simt::CudaExecutor&, const FusedLayout&);

}  // namespace speclab
