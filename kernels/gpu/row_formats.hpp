// Fused verification of batches and of trees on a GPU. Several files compile the kernels for the formats of
// rows, because together they take the compiler a minute. Only .cu files include this.
#pragma once

#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/verify/fused_layout.hpp"
#include "kernels/verify/tree_layout.hpp"

namespace speclab {

extern template void FusedKernels::launch<float>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<Bf16>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<F16>(simt::CudaExecutor&, const FusedLayout&);
extern template void FusedKernels::launch<AnyLogit>(simt::CudaExecutor&, const FusedLayout&);

extern template void TreeKernels::launch<float>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<Bf16>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<F16>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<AnyLogit>(simt::CudaExecutor&, const TreeBatch&);

}  // namespace speclab
