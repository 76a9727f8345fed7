// Tree verification on a GPU. Several files compile the kernels for the formats of rows, as for fused
// verification. Only .cu files include this.
#pragma once

#include "kernels/gpu/fused_formats.hpp"
#include "kernels/verify/tree_layout.hpp"

namespace speclab {

extern template void TreeKernels::launch<float>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<Bf16>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<F16>(simt::CudaExecutor&, const TreeBatch&);
extern template void TreeKernels::launch<AnyLogit>(simt::CudaExecutor&, const TreeBatch&);

}  // namespace speclab
