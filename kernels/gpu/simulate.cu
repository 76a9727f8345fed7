#include <stdexcept>
#include <string>

#include "kernels/gpu/captured_graph.hpp"
#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/simulate/simulate_driver.hpp"

namespace speclab {

namespace {

/// Runs on a stream of its own, so that runs of several host threads overlap.
class CudaDevice {
 public:
  template <class T>
  DeviceArray<T> copy(const T* host, std::size_t count) const {
    DeviceArray<T> memory = device_array<T>(count);
    SPECLAB_CUDA(cudaMemcpyAsync(memory.get(), host, count * sizeof(T), cudaMemcpyHostToDevice, stream_));
    SPECLAB_CUDA(cudaStreamSynchronize(stream_));
    return memory;
  }
  template <class T>
  DeviceArray<T> zeros(std::size_t count) const {
    DeviceArray<T> memory = device_array<T>(count);
    SPECLAB_CUDA(cudaMemsetAsync(memory.get(), 0, count * sizeof(T), stream_));
    return memory;
  }
  template <class Kernel>
  void run(const simt::Launch& launch, const typename Kernel::Args& args) const {
    simt::CudaExecutor(stream_).run<Kernel>(launch, args);
  }
  template <class T>
  void take(T* memory, std::size_t count, T* scratch) const {
    SPECLAB_CUDA(cudaMemcpyAsync(scratch, memory, count * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    SPECLAB_CUDA(cudaMemsetAsync(memory, 0, count * sizeof(T), stream_));
    SPECLAB_CUDA(cudaStreamSynchronize(stream_));
  }

 private:
  OwnedStream owned_ = make_stream();
  cudaStream_t stream_ = owned_.get();
};

void refuse_what_does_not_fit(const SimulateLayout& layout) {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  SPECLAB_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  const std::string unsupported_reason = layout_unsupported_reason(layout, free_bytes);
  if (!unsupported_reason.empty()) throw std::runtime_error("simulation on the GPU: " + unsupported_reason);
}

}  // namespace

RoundCounts simulate_on_gpu(const IidRun& run, const Watch& watch) {
  refuse_what_does_not_fit(iid_layout(run.shape));
  return simulate(CudaDevice(), run, watch);
}

RoundCounts simulate_on_gpu(const TableRun& run, const Watch& watch) {
  refuse_what_does_not_fit(table_layout(run.shape, run.tables, run.starts.size()));
  return simulate(CudaDevice(), run, watch);
}

}  // namespace speclab
