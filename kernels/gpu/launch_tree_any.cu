#include "kernels/gpu/row_formats.hpp"

namespace speclab {

template void TreeKernels::launch<AnyLogit>(simt::CudaExecutor&, const TreeBatch&);

}  // namespace speclab
