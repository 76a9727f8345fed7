#include "kernels/gpu/run_host_batch.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/gpu/captured_graph.hpp"

namespace speclab {

namespace {

/// Returns the number of elements from the first entry to the end of the last, for an array with entries of
/// `width` elements.
template <class T>
std::size_t span_of(const View<T>& view, std::int32_t requests, std::int32_t positions, std::int64_t width) {
  if (positions == 0) return 0;
  std::int64_t end = 0;
  for (std::int32_t request = 0; request < requests; ++request) {
    for (const std::int32_t position : {0, positions - 1}) {
      end = std::max<std::int64_t>(end, view.at(request, position, positions) - view.data + width);
    }
  }
  return static_cast<std::size_t>(end);
}

/// Device copies of the arrays that a batch points to.
class DeviceBatch {
 public:
  explicit DeviceBatch(const VerifyBatch& host) : DeviceBatch(host, host.gamma) {}

  /// Copies a batch with `draft_rows` rows of the draft per request.
  DeviceBatch(const VerifyBatch& host, std::int32_t draft_rows) : batch(host), host_(host) {
    const auto requests = static_cast<std::size_t>(host.requests);
    const std::size_t positions = requests * static_cast<std::size_t>(host.gamma + 1);
    batch.target = rows(host.target, host.target_rows(host.gamma), host.vocab);
    batch.draft = rows(host.draft, draft_rows, host.vocab_of(false));
    batch.target_options = options(host.target_options, host.gamma + 1);
    batch.draft_options = options(host.draft_options, host.gamma);
    batch.draft_place = copy(host.draft_place, static_cast<std::size_t>(host.vocab));
    batch.mask = view(host.mask, host.gamma + 1, (host.vocab + 31) / 32);
    batch.top_k = view(host.top_k, host.gamma + 1);
    batch.top_p = view(host.top_p, host.gamma + 1);
    batch.min_p = view(host.min_p, host.gamma + 1);
    batch.drafted = view(host.drafted, host.gamma);
    batch.seeds = view(host.seeds, 1);
    batch.positions = view(host.positions, 1);
    batch.bonus = copy(host.bonus, requests);
    batch.lengths = copy(host.lengths, requests);
    batch.cumulative = copy(host.cumulative, requests + 1);
    batch.addresses = copy(host.addresses, requests);
    batch.uniforms = copy(host.uniforms, positions);
    batch.accepted = copy(host.accepted, requests);
    batch.next = copy(host.next, requests);
    batch.flags = copy(host.flags, requests);
    batch.tokens = copy(host.tokens, positions);
    batch.counts = copy(host.counts, requests);
    batch.log_probabilities = copy(host.log_probabilities, positions);
    batch.log_sum_exps = copy(host.log_sum_exps, positions);
  }

  void fetch() const {
    const auto requests = static_cast<std::size_t>(host_.requests);
    back(host_.accepted, batch.accepted, requests);
    back(host_.next, batch.next, requests);
    back(host_.flags, batch.flags, requests);
    const std::size_t positions = requests * static_cast<std::size_t>(host_.gamma + 1);
    back(host_.tokens, batch.tokens, positions);
    back(host_.counts, batch.counts, requests);
    back(host_.log_probabilities, batch.log_probabilities, positions);
    back(host_.log_sum_exps, batch.log_sum_exps, positions);
  }

  VerifyBatch batch;

 protected:
  template <class T>
  T* copy(T* host, std::size_t count) {
    if (host == nullptr) return nullptr;
    // The copy is misaligned exactly as on the host, because kernels read rows that are not aligned to 16
    // bytes in another way.
    const std::size_t off = reinterpret_cast<std::uintptr_t>(host) % 16;
    kept_.push_back(device_copy(reinterpret_cast<const unsigned char*>(host), count * sizeof(T), off));
    return reinterpret_cast<T*>(kept_.back().get() + off);
  }
  template <class T>
  View<T> view(View<T> host, std::int32_t positions, std::int64_t width = 1) {
    if (host == nullptr) return host;
    T* const data = copy(host.data, span_of(host, host_.requests, positions, width));
    host.index = copy(host.index, static_cast<std::size_t>(host_.requests));
    host.data = data;
    return host;
  }
  template <class T>
  static void back(T* host, const T* device, std::size_t count) {
    if (host != nullptr) SPECLAB_CUDA(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
  }

 private:
  LogitRows rows(LogitRows host, std::int32_t positions, std::int64_t vocab) {
    const std::int64_t bytes = dtype_bytes(host.dtype);
    const View<const unsigned char> of_bytes(static_cast<const unsigned char*>(host.data), host.index,
                                             host.request_stride * bytes, host.row_stride * bytes);
    const View<const unsigned char> copied = view(of_bytes, positions, vocab * bytes);
    host.data = copied.data;
    host.index = copied.index;
    return host;
  }
  RowOptions options(const RowOptions& host, std::int32_t positions) {
    return {view(host.temperature, positions), view(host.cutoff, positions),
            view(host.log_sum_exp, positions)};
  }

  VerifyBatch host_;
  std::vector<DeviceArray<unsigned char>> kept_;
};

/// Device copies of the arrays that a batch of trees points to.
class DeviceTrees : public DeviceBatch {
 public:
  explicit DeviceTrees(const TreeBatch& host)
      : DeviceBatch(host.batch, host.draft_row_count()), tree(host), host_(host) {
    tree.batch = batch;
    tree.parents = view(host.parents, host.batch.gamma);
    tree.draft_row = view(host.draft_row, host.batch.gamma);
    tree.path = copy(host.path, path_size());
  }

  void fetch() const {
    DeviceBatch::fetch();
    back(host_.path, tree.path, path_size());
  }

  TreeBatch tree;

 private:
  std::size_t path_size() const {
    return static_cast<std::size_t>(host_.batch.requests) * static_cast<std::size_t>(host_.batch.gamma);
  }

  TreeBatch host_;
};

}  // namespace

void run_host_trees_on_gpu(const TreeBatch& host, GpuLaunch how) {
  DeviceTrees device(host);
  const OwnedStream stream = make_stream();
  const auto run = [&] { run_tree_on_gpu(device.tree, stream.get()); };
  // The launch before a capture may load the kernels, which a capture must not.
  run();
  if (how == GpuLaunch::graph) {
    const CapturedGraph graph(stream.get(), run);
    graph.replay(stream.get());
    SPECLAB_CUDA(cudaStreamSynchronize(stream.get()));
  } else {
    SPECLAB_CUDA(cudaStreamSynchronize(stream.get()));
  }
  device.fetch();
}

void run_host_batch_on_gpu(Implementation implementation, const VerifyBatch& host, GpuLaunch how) {
  DeviceBatch device(host);
  const std::size_t bytes = layout_of(implementation, host).workspace_bytes;
  const auto workspace = device_array<unsigned char>(bytes);
  const OwnedStream stream = make_stream();
  const auto run = [&] { run_on_gpu(implementation, device.batch, workspace.get(), stream.get()); };
  // The first run uses unset scratch, which compute-sanitizer's initcheck needs; the second one scratch full
  // of absurd numbers. The launch before a capture may load the kernels, which a capture must not.
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
