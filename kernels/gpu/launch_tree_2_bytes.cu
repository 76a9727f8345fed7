#include "kernels/gpu/row_formats.hpp"

namespace speclab {

template void TreeKernels::launch<Bf16>(simt::CudaExecutor&, const TreeBatch&);
template void TreeKernels::launch<F16>(simt::CudaExecutor&, const TreeBatch&);

}  // namespace speclab
