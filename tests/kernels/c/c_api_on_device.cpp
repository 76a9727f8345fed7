// Tests the shared library on a GPU: decisions are the reference's, and bits are the same when repeated,
// alone, and from a CUDA graph.
#include <cuda_runtime.h>
#include <speclab_kernels.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

#include "kernels/gpu/cuda_check.hpp"
#include "tests/kernels/verify/logit_batch.hpp"

using namespace speclab;

namespace {

/// Single precision's error of a probability, as in fused_test.cpp.
constexpr double band = 1e-5;

template <class T>
DeviceArray<T> copy_of(const std::vector<T>& host) {
  return device_copy(host.data(), host.size());
}

struct Results {
  std::vector<std::int32_t> accepted;
  std::vector<Token> next;
  std::vector<std::uint32_t> flags;

  bool operator==(const Results&) const = default;
};

void require(speclab_status status) {
  if (status != speclab_ok) throw std::runtime_error(speclab_last_error());
}

/// A batch of the tests on the device, for the C interface.
class OnDevice {
 public:
  explicit OnDevice(const LogitBatch& host)
      : target_(copy_of(host.target_room)),
        draft_(copy_of(host.draft_room)),
        drafted_(copy_of(host.drafted)),
        addresses_(copy_of(host.addresses)),
        accepted_(copy_of(host.accepted)),
        next_(copy_of(host.next)),
        flags_(copy_of(host.flags)) {
    const VerifyBatch& batch = host.batch;
    c_.struct_size = sizeof c_;
    c_.requests = batch.requests;
    c_.gamma = batch.gamma;
    c_.vocab = batch.vocab;
    c_.target_dtype = c_.draft_dtype = static_cast<std::int32_t>(batch.target.dtype);
    c_.method = static_cast<std::int32_t>(batch.rule.method);
    c_.lenience = batch.rule.lenience;
    c_.target = {target_.get(), batch.target.request_stride, batch.target.row_stride};
    c_.draft = {draft_.get(), batch.draft.request_stride, batch.draft.row_stride};
    c_.drafted = drafted_.get();
    c_.addresses = reinterpret_cast<const speclab_address*>(addresses_.get());
    c_.accepted = accepted_.get();
    c_.next = next_.get();
    c_.flags = flags_.get();
    require(speclab_verify_workspace_bytes(&c_, &bytes_));
    workspace_ = device_array<unsigned char>(bytes_);
    SPECLAB_CUDA(cudaMemset(workspace_.get(), 0xa5, bytes_));
  }

  void enqueue(cudaStream_t stream) const { require(speclab_verify(&c_, workspace_.get(), bytes_, stream)); }

  /// Returns the results and overwrites them on the device.
  Results take() {
    SPECLAB_CUDA(cudaDeviceSynchronize());
    const auto count = static_cast<std::size_t>(c_.requests);
    Results results{std::vector<std::int32_t>(count), std::vector<Token>(count),
                    std::vector<std::uint32_t>(count)};
    const auto take_one = [count](auto& to, const auto& from) {
      SPECLAB_CUDA(cudaMemcpy(to.data(), from.get(), 4 * count, cudaMemcpyDeviceToHost));
      SPECLAB_CUDA(cudaMemset(from.get(), 0x55, 4 * count));
    };
    take_one(results.accepted, accepted_);
    take_one(results.next, next_);
    take_one(results.flags, flags_);
    return results;
  }

  /// Verifies one request as a batch of its own and puts the result in its place in `results`.
  void alone(std::int32_t request, Results& results) {
    speclab_verify_batch one = c_;
    const auto step = [request](const void* data, std::int64_t stride, std::int32_t dtype) {
      return static_cast<const unsigned char*>(data) +
             request * stride * dtype_bytes(static_cast<Dtype>(dtype));
    };
    one.requests = 1;
    one.target.data = step(c_.target.data, c_.target.request_stride, c_.target_dtype);
    one.draft.data = step(c_.draft.data, c_.draft.request_stride, c_.draft_dtype);
    one.drafted += request * c_.gamma;
    one.addresses += request;
    SPECLAB_CUDA(cudaMemset(workspace_.get(), 0xa5, bytes_));
    require(speclab_verify(&one, workspace_.get(), bytes_, nullptr));
    const Results first = take();
    const auto place = static_cast<std::size_t>(request);
    results.accepted[place] = first.accepted[0];
    results.next[place] = first.next[0];
    results.flags[place] = first.flags[0];
  }

 private:
  DeviceArray<std::uint32_t> target_;
  DeviceArray<std::uint32_t> draft_;
  DeviceArray<Token> drafted_;
  DeviceArray<RandomAddress> addresses_;
  DeviceArray<std::int32_t> accepted_;
  DeviceArray<Token> next_;
  DeviceArray<std::uint32_t> flags_;
  DeviceArray<unsigned char> workspace_;
  speclab_verify_batch c_{};
  std::size_t bytes_ = 0;
};

/// Returns the results of replays of a captured call.
std::vector<Results> replayed(OnDevice& batch, int replays) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  SPECLAB_CUDA(cudaStreamCreate(&stream));
  SPECLAB_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  batch.enqueue(stream);
  SPECLAB_CUDA(cudaStreamEndCapture(stream, &graph));
  SPECLAB_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  std::vector<Results> results;
  for (int i = 0; i < replays; ++i) {
    SPECLAB_CUDA(cudaGraphLaunch(executable, stream));
    results.push_back(batch.take());
  }
  SPECLAB_CUDA(cudaGraphExecDestroy(executable));
  SPECLAB_CUDA(cudaGraphDestroy(graph));
  SPECLAB_CUDA(cudaStreamDestroy(stream));
  return results;
}

/// Counts the faults found with one batch.
int faults(Dtype dtype, KernelRule method, std::int32_t vocab) {
  LogitBatch host({.requests = 33, .gamma = 4, .vocab = vocab, .dtype = dtype, .padding = 3}, 17);
  host.batch.rule.method = method;
  host.batch.rule.lenience = 0.6;
  OnDevice device(host);
  device.enqueue(nullptr);
  const Results results = device.take();

  const std::vector<ReferenceDecision> expected = verify_reference(host.batch);
  int different = 0;
  int within = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].margin < band) {
      ++within;
    } else if (results.accepted[i] != expected[i].accepted || results.next[i] != expected[i].next) {
      ++different;
    }
  }
  int changed = 0;
  for (const Results& again : replayed(device, 3)) changed += again == results ? 0 : 1;
  Results one_by_one = results;
  for (std::int32_t request = 0; request < host.batch.requests; ++request) device.alone(request, one_by_one);
  changed += one_by_one == results ? 0 : 1;
  std::printf(
      "dtype %d, method %d, vocab %d: %d decisions differ, %d within the band, %d of 4 runs changed\n",
      static_cast<int>(dtype), static_cast<int>(method), vocab, different, within, changed);
  return different + changed;
}

}  // namespace

int main() {
  constexpr int skipped = 77;
  if (speclab_device_name() == nullptr) {
    std::printf("skipped: kernels/c_api_on_device: %s\n", speclab_last_error());
    return skipped;
  }
  std::printf("device: %s\n", speclab_device_name());
  int wrong = 0;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    for (const KernelRule method : {KernelRule::token, KernelRule::lenient, KernelRule::block}) {
      for (const std::int32_t vocab : {7, 1000, 20001}) wrong += faults(dtype, method, vocab);
    }
  }
  return wrong == 0 ? 0 : 1;
}
