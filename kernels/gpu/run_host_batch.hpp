// Runs a batch in host memory on the GPU: for tests, not for speed.
#pragma once

#include "kernels/verify/implementation.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

/// How the launches reach the device: directly, or from a CUDA graph that is replayed twice.
enum class GpuLaunch { stream, graph };

/// Copies the batch to the device, verifies it, and copies the results back to the batch's arrays. Throws
/// std::runtime_error with call, file and line when CUDA fails.
void run_host_batch_on_gpu(Implementation implementation, const VerifyBatch& batch,
                           GpuLaunch how = GpuLaunch::stream);

/// Verifies a batch of trees in the same way; a graph is replayed once.
void run_host_trees_on_gpu(const TreeBatch& tree, GpuLaunch how = GpuLaunch::stream);

}  // namespace speclab
