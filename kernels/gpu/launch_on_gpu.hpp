// One implementation's kernels on a stream. Each is compiled in a file of its own: together they take the
// compiler more than a minute.
#pragma once

#include "kernels/verify/verify_batch.hpp"

struct CUstream_st;

namespace speclab {

/// `Kernels` is one of dispatch.hpp, which can run the batch.
template <class Kernels>
void launch_on_gpu(const VerifyBatch& batch, void* workspace, CUstream_st* stream);

}  // namespace speclab
