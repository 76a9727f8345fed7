// Tree verification on a GPU. For each method one file compiles the kernels for rows of one format, and
// another the kernel for rows of any format, which takes the compiler as long as the others together. Only
// .cu files include this.
#pragma once

#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/verify/tree_layout.hpp"

namespace speclab {

extern template void TreeKernels::launch<tree::Walk<float>>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<tree::Walk<Bf16>>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<tree::Walk<F16>>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<tree::Walk<AnyLogit>>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<tree::Traverse<float>>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<tree::Traverse<Bf16>>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<tree::Traverse<F16>>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<tree::Traverse<AnyLogit>>(simt::CudaExecutor&, const TreeBatch&);

}  // namespace speclab
