#include "kernels/gpu/row_formats.hpp"

namespace speclab {

template void FusedKernels::launch<Bf16>(simt::CudaExecutor&, const FusedLayout&);
template void FusedKernels::launch<F16>(simt::CudaExecutor&, const FusedLayout&);

}  // namespace speclab
