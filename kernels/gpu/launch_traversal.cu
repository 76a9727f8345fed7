#include "kernels/gpu/tree_formats.hpp"

namespace speclab {

template void TreeKernels::launch<tree::Traverse<float>>(simt::CudaExecutor&, const TreeBatch&);
template void TreeKernels::launch<tree::Traverse<Bf16>>(simt::CudaExecutor&, const TreeBatch&);
template void TreeKernels::launch<tree::Traverse<F16>>(simt::CudaExecutor&, const TreeBatch&);

}  // namespace speclab
