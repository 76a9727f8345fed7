#include "kernels/gpu/row_formats.hpp"

namespace speclab {

template void FusedKernels::launch<AnyLogit>(simt::CudaExecutor&, const FusedLayout&);

}  // namespace speclab
