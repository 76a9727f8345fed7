#include <stdexcept>

#include "kernels/gpu/row_formats.hpp"

namespace speclab {

template void TreeKernels::launch<float>(simt::CudaExecutor&, const TreeBatch&);

void run_tree_on_gpu(const TreeBatch& tree, CUstream_st* stream) {
  if (const auto reason = TreeKernels::unsupported_reason(tree)) throw std::invalid_argument(*reason);
  TreeKernels::run(simt::CudaExecutor(stream), tree);
}

}  // namespace speclab
