// Fused verification on a GPU. Several files compile the kernels for the formats of rows, because together
// they take the compiler a minute. Only .cu files include this.
#pragma once

#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/verify/fused_layout.hpp"

namespace speclab {

extern template void FusedKernels::launch<float>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<Bf16>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<F16>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<AnyLogit>(simt::CudaExecutor&, const FusedLayout&);

}  // namespace speclab
