// Captures launches in a CUDA graph and replays it.
#pragma once

#include <utility>

#include "kernels/gpu/cuda_check.hpp"

namespace speclab {

struct StreamDestroy {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using OwnedStream = std::unique_ptr<CUstream_st, StreamDestroy>;

inline OwnedStream make_stream() {
  cudaStream_t stream = nullptr;
  SPECLAB_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return OwnedStream(stream);
}

/// A CUDA graph of the launches that `work` enqueues on the stream.
class CapturedGraph {
 public:
  template <class Work>
  CapturedGraph(cudaStream_t stream, const Work& work) {
    SPECLAB_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      work();
    } catch (...) {
      // Without the end of the capture, every later call on the stream would fail, with another message.
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    SPECLAB_CUDA(cudaStreamEndCapture(stream, &graph));
    const cudaError_t error = cudaGraphInstantiate(&ready_, graph, 0);
    cudaGraphDestroy(graph);
    SPECLAB_CUDA(error);
  }
  CapturedGraph(CapturedGraph&& other) noexcept : ready_(std::exchange(other.ready_, nullptr)) {}
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() {
    if (ready_ != nullptr) cudaGraphExecDestroy(ready_);
  }

  void replay(cudaStream_t stream) const { SPECLAB_CUDA(cudaGraphLaunch(ready_, stream)); }

 private:
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace speclab
