// Launches one implementation's kernels on a stream. Each implementation is compiled in its own file, because
// together they take the compiler more than a minute.
#pragma once

#include "kernels/verify/verify_batch.hpp"

struct CUstream_st;

namespace speclab {

/// Launches the kernels that verify `batch`. `Kernels` is one of those in dispatch.hpp and must be able to
/// run the batch.
template <class Kernels>
void launch_on_gpu(const VerifyBatch& batch, void* workspace, CUstream_st* stream);

}  // namespace speclab
