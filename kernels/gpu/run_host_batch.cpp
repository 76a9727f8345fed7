#include "kernels/gpu/run_host_batch.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/gpu/captured_graph.hpp"
#include "kernels/verify/batch_part.hpp"

namespace speclab {

namespace {

/// Returns the number of elements from the first entry to the end of the last, for an array with entries of
/// `width` elements.
template <class T>
std::size_t span_of(const View<T>& view, std::int32_t requests, std::int32_t positions, std::int64_t width) {
  if (positions == 0) return 0;
  std::int64_t end = 0;
  for (std::int32_t request = 0; request < requests; ++request) {
    for (const std::int32_t position : {0, positions - 1})
      end = std::max<std::int64_t>(end, view.at(request, position, positions) - view.data + width);
  }
  return static_cast<std::size_t>(end);
}

/// Device copies of the arrays that a batch points to.
class DeviceBatch {
 public:
  explicit DeviceBatch(const VerifyBatch& host) : DeviceBatch(host, host.gamma) {}

  /// Copies a batch with `draft_rows` rows of the draft per request.
  DeviceBatch(const VerifyBatch& host, std::int32_t draft_rows) : batch(host), host_(host) {
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
    each_array(batch, [&](const char*, auto*& array, std::int64_t each, std::int64_t more) {
      array = copy(array, static_cast<std::size_t>(host.requests * each + more));
    });
  }

  /// Copies to the host what a kernel may have written.
  void fetch() const {
    for (const Written& array : written_)
      SPECLAB_CUDA(cudaMemcpy(array.host, array.device, array.bytes, cudaMemcpyDeviceToHost));
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
    T* const device = reinterpret_cast<T*>(kept_.back().get() + off);
    if constexpr (!std::is_const_v<T>) written_.push_back({host, device, count * sizeof(T)});
    return device;
  }
  template <class T>
  View<T> view(View<T> host, std::int32_t positions, std::int64_t width = 1) {
    if (host == nullptr) return host;
    T* const data = copy(host.data, span_of(host, host_.requests, positions, width));
    host.index = copy(host.index, static_cast<std::size_t>(host_.requests));
    host.data = data;
    return host;
  }

 private:
  struct Written {
    void* host;
    const void* device;
    std::size_t bytes;
  };

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
  std::vector<Written> written_;
};

/// Device copies of the arrays that a batch of trees points to.
class DeviceTrees : public DeviceBatch {
 public:
  explicit DeviceTrees(const TreeBatch& host) : DeviceBatch(host.batch, host.draft_row_count()), tree(host) {
    tree.batch = batch;
    tree.parents = view(host.parents, host.batch.gamma);
    tree.draft_row = view(host.draft_row, host.batch.gamma);
    tree.path = copy(host.path, static_cast<std::size_t>(std::int64_t{batch.requests} * batch.gamma));
    tree.workspace = copy(static_cast<unsigned char*>(host.workspace), host.workspace_bytes);
  }

  TreeBatch tree;
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
