// Tree verification on a GPU, where the kernel for rows of any format is compiled in a file of its own: it
// takes the compiler as long as the others. Included by .cu files only.
#pragma once

#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/verify/tree_layout.hpp"

namespace speclab {

extern template void TreeKernels::launch<float>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<Bf16>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<F16>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<AnyLogit>(simt::CudaExecutor&, const TreeBatch&);

}  // namespace speclab
