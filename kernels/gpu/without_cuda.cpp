// Replaces the library's GPU functions in a build without nvcc: every call fails with the reason.
#include <stdexcept>

#include "kernels/bench/measure.hpp"
#include "kernels/gpu/device.hpp"
#include "kernels/gpu/run_host_batch.hpp"
#include "kernels/simulate/simulate.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/verify_tree.hpp"

namespace speclab {

namespace {

constexpr const char* reason = "built without CUDA";

}  // namespace

std::optional<GpuDevice> current_device() { return std::nullopt; }

std::string why_no_device() { return reason; }

void run_on_gpu(Implementation, const VerifyBatch&, void*, CUstream_st*) { throw std::runtime_error(reason); }

void run_tree_on_gpu(const TreeBatch&, CUstream_st*) { throw std::runtime_error(reason); }

void run_host_batch_on_gpu(Implementation, const VerifyBatch&, GpuLaunch) {
  throw std::runtime_error(reason);
}

void run_host_trees_on_gpu(const TreeBatch&, GpuLaunch) { throw std::runtime_error(reason); }

BenchMeasurement measure_on_gpu(const BenchTask&, const std::function<bool()>&) {
  throw std::runtime_error(reason);
}

RoundCounts simulate_on_gpu(const IidRun&, const Watch&) { throw std::runtime_error(reason); }

RoundCounts simulate_on_gpu(const TableRun&, const Watch&) { throw std::runtime_error(reason); }

}  // namespace speclab
