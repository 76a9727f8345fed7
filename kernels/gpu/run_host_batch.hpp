// Runs a batch on the GPU that lies in the host's memory: for tests, not for speed.
#pragma once

#include "kernels/verify/implementation.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

/// How the launches get to the device: as they are, or from a CUDA graph that is replayed twice.
enum class GpuLaunch { stream, graph };

/// Copies the batch to the device, verifies it, and copies accepted, next and flags back to where the batch
/// points. Throws std::runtime_error with call, file and line when CUDA fails.
void run_host_batch_on_gpu(Implementation implementation, const VerifyBatch& batch,
                           GpuLaunch how = GpuLaunch::stream);

/// The same of trees; the graph is replayed once.
void run_host_trees_on_gpu(const TreeBatch& tree, GpuLaunch how = GpuLaunch::stream);

}  // namespace speclab
