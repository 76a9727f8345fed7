#include "kernels/gpu/run_host_batch.hpp"

#include "kernels/gpu/captured_graph.hpp"

namespace speclab {

namespace {

/// Bytes from the first logit to the last; 0 of a tensor without rows.
std::size_t span_of(const LogitRows& rows, std::int64_t requests, std::int64_t positions,
                    std::int64_t vocab) {
  if (requests == 0 || positions == 0) return 0;
  const std::int64_t elements =
      (requests - 1) * rows.request_stride + (positions - 1) * rows.row_stride + vocab;
  return static_cast<std::size_t>(elements * dtype_bytes(rows.dtype));
}

/// Device copies that a batch points to.
class DeviceBatch {
 public:
  explicit DeviceBatch(const VerifyBatch& host) : batch(host), host_(host) {
    const auto requests = static_cast<std::size_t>(host.requests);
    const auto drafts = requests * static_cast<std::size_t>(host.gamma);
    const std::size_t positions = requests + drafts;
    batch.target.data = copy(static_cast<const unsigned char*>(host.target.data),
                             span_of(host.target, host.requests, host.gamma + 1, host.vocab));
    batch.draft.data = copy(static_cast<const unsigned char*>(host.draft.data),
                            span_of(host.draft, host.requests, host.gamma, host.vocab));
    batch.target_options = options(host.target_options, positions);
    batch.draft_options = options(host.draft_options, drafts);
    batch.drafted = copy(host.drafted, drafts);
    batch.lengths = copy(host.lengths, requests);
    batch.addresses = copy(host.addresses, requests);
    batch.uniforms = copy(host.uniforms, positions);
    batch.accepted = copy(host.accepted, requests);
    batch.next = copy(host.next, requests);
    batch.flags = copy(host.flags, requests);
    batch.tokens = copy(host.tokens, positions);
    batch.counts = copy(host.counts, requests);
  }

  void fetch() const {
    const auto requests = static_cast<std::size_t>(host_.requests);
    back(host_.accepted, batch.accepted, requests);
    back(host_.next, batch.next, requests);
    back(host_.flags, batch.flags, requests);
    back(host_.tokens, batch.tokens, requests * static_cast<std::size_t>(host_.gamma + 1));
    back(host_.counts, batch.counts, requests);
  }

  VerifyBatch batch;

 private:
  template <class T>
  T* copy(T* host, std::size_t count) {
    if (host == nullptr) return nullptr;
    const std::size_t bytes = count * sizeof(T);
    kept_.push_back(device_copy(reinterpret_cast<const unsigned char*>(host), bytes));
    return reinterpret_cast<T*>(kept_.back().get());
  }
  RowOptions options(const RowOptions& host, std::size_t count) {
    return {copy(host.temperature, count), copy(host.cutoff, count), copy(host.log_sum_exp, count)};
  }
  template <class T>
  static void back(T* host, const T* device, std::size_t count) {
    if (host != nullptr) SPECLAB_CUDA(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
  }

  VerifyBatch host_;
  std::vector<DeviceArray<unsigned char>> kept_;
};

}  // namespace

void run_host_batch_on_gpu(Implementation implementation, const VerifyBatch& host, GpuLaunch how) {
  DeviceBatch device(host);
  const std::size_t bytes = layout_of(implementation, host).workspace_bytes;
  const auto workspace = device_array<unsigned char>(bytes);
  const OwnedStream stream = make_stream();
  const auto run = [&] { run_on_gpu(implementation, device.batch, workspace.get(), stream.get()); };
  // Once on memory that nobody has written, for compute-sanitizer's initcheck; then on absurd numbers. A
  // capture comes after a launch, which may load the kernels.
  run();
  SPECLAB_CUDA(cudaMemsetAsync(workspace.get(), absurd_byte, bytes, stream.get()));
  if (how == GpuLaunch::graph) {
    const CapturedGraph graph(stream.get(), run);
    graph.replay(stream.get());
    graph.replay(stream.get());
    SPECLAB_CUDA(cudaStreamSynchronize(stream.get()));
  } else {
    run();
    SPECLAB_CUDA(cudaStreamSynchronize(stream.get()));
  }
  device.fetch();
}

}  // namespace speclab
