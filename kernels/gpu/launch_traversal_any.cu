#include "kernels/gpu/tree_formats.hpp"

namespace speclab {

template void TreeKernels::launch<tree::Traverse<AnyLogit>>(simt::CudaExecutor&, const TreeBatch&);

}  // namespace speclab
