// Verification on the GPU for C++ programs; speclab_kernels.h offers the same to C and other languages.
#pragma once

#include <stdexcept>

#include "kernels/verify/check_batch.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// Returns the bytes of device memory that `verify` needs for a batch. They depend on sizes, the rule and
/// which optional pointers are null. Throws std::invalid_argument for what `shape_error` finds.
inline std::size_t verify_workspace_bytes(const VerifyBatch& batch,
                                          Implementation implementation = Implementation::fused) {
  if (const auto error = shape_error(implementation, batch)) throw std::invalid_argument(*error);
  return layout_of(implementation, batch).workspace_bytes;
}

/// Enqueues the verification of a batch on a stream. The batch and the workspace are in memory of the current
/// device. The workspace is aligned to `workspace_alignment` and serves one batch at a time; its contents do
/// not matter. Reads nothing from the device and does not wait for it, so that the call can be captured in a
/// CUDA graph. Throws std::invalid_argument for what `batch_error` finds, before anything is launched, and
/// std::runtime_error with call, file and line when CUDA refuses a launch.
inline void verify(const VerifyBatch& batch, void* workspace, std::size_t workspace_bytes,
                   CUstream_st* stream, Implementation implementation = Implementation::fused) {
  if (const auto error = batch_error(implementation, batch, workspace, workspace_bytes))
    throw std::invalid_argument(*error);
  if (batch.requests > 0) run_on_gpu(implementation, batch, workspace, stream);
}

}  // namespace speclab
