// Tree verification on a GPU, where each method has a file for the kernels of rows of one format, and one for
// the kernel of rows of any: that takes the compiler as long as the others. Included by .cu files only.
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
