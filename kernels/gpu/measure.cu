#include "kernels/bench/measure.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/bench/make_inputs.hpp"
#include "kernels/bench/move_bytes.hpp"
#include "kernels/gpu/captured_graph.hpp"
#include "kernels/gpu/cuda_executor.hpp"
#include "kernels/gpu/device.hpp"

namespace speclab {

namespace {

constexpr int warm_up = 5;
/// Longer than the host takes to enqueue an event, a graph of several launches and an event.
constexpr int spin_microseconds = 200;
/// What is read to flush the second cache: several times the largest, since a cache may keep lines that are
/// used again. Reading leaves no line that would have to be written back while something is timed.
constexpr std::size_t flush_bytes = std::size_t{256} << 20U;
/// Requests whose decisions are compared with the reference, which takes tens of milliseconds each.
constexpr std::int32_t compared_requests = 4;

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

struct EventDestroy {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using OwnedEvent = std::unique_ptr<CUevent_st, EventDestroy>;

OwnedEvent make_event() {
  cudaEvent_t event = nullptr;
  SPECLAB_CUDA(cudaEventCreate(&event));
  return OwnedEvent(event);
}

/// Inputs and outputs of a measurement, in device memory.
struct Tensors {
  explicit Tensors(const BenchShape& shape, const BenchBytes& bytes)
      : requests(static_cast<std::size_t>(shape.requests)),
        drafts(requests * static_cast<std::size_t>(shape.gamma)),
        // Target and draft in one piece, so that copy and read have one piece to go through.
        logits(device_array<unsigned char>(bytes.logits())),
        copied(device_array<unsigned char>(bytes.copied)),
        drafted(device_array<Token>(drafts)),
        addresses(device_array<RandomAddress>(requests)),
        accepted(device_array<std::int32_t>(requests)),
        next(device_array<Token>(requests)),
        flags(device_array<std::uint32_t>(requests)),
        parity(device_array<std::uint32_t>(
            static_cast<std::size_t>(bench::moving_blocks(static_cast<std::int64_t>(bytes.logits() / 16))))) {
  }

  std::size_t requests;
  std::size_t drafts;
  DeviceArray<unsigned char> logits;
  DeviceArray<unsigned char> copied;
  DeviceArray<Token> drafted;
  DeviceArray<RandomAddress> addresses;
  DeviceArray<std::int32_t> accepted;
  DeviceArray<Token> next;
  DeviceArray<std::uint32_t> flags;
  DeviceArray<std::uint32_t> parity;
};

RandomAddress address_of(const BenchTask& task, std::int32_t request) {
  return {task.logits.seed, static_cast<std::uint32_t>(request), 0};
}

void fill(const BenchTask& task, const BenchBytes& bytes, const Tensors& tensors, cudaStream_t stream) {
  make_inputs(simt::CudaExecutor(stream), task.shape, task.logits, tensors.logits.get(),
              tensors.logits.get() + bytes.target, tensors.drafted.get());
  std::vector<RandomAddress> addresses(tensors.requests);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    addresses[i] = address_of(task, static_cast<std::int32_t>(i));
  }
  SPECLAB_CUDA(cudaMemcpyAsync(tensors.addresses.get(), addresses.data(),
                               addresses.size() * sizeof(RandomAddress), cudaMemcpyHostToDevice, stream));
  SPECLAB_CUDA(cudaStreamSynchronize(stream));
}

VerifyBatch batch_of(const BenchShape& shape, const BenchBytes& bytes, const Tensors& tensors) {
  VerifyBatch batch = shape_batch(shape);
  batch.target.data = tensors.logits.get();
  batch.draft.data = tensors.logits.get() + bytes.target;
  batch.drafted = tensors.drafted.get();
  batch.addresses = tensors.addresses.get();
  batch.accepted = tensors.accepted.get();
  batch.next = tensors.next.get();
  batch.flags = tensors.flags.get();
  return batch;
}

/// Some requests of the batch in the host's memory, and what the reference says of them.
class ReferenceSample {
 public:
  ReferenceSample(const BenchTask& task, const BenchBytes& bytes, const Tensors& tensors)
      : requests_(spread_requests(task.shape.requests, compared_requests)), vocab_(task.shape.vocab) {
    BenchShape shape = task.shape;
    shape.requests = static_cast<std::int32_t>(requests_.size());
    const std::size_t target_bytes = bytes.target / tensors.requests;
    const std::size_t draft_bytes = bytes.draft / tensors.requests;
    const auto gamma = static_cast<std::size_t>(shape.gamma);
    std::vector<unsigned char> target(requests_.size() * target_bytes);
    std::vector<unsigned char> draft(requests_.size() * draft_bytes);
    std::vector<Token> drafted(requests_.size() * gamma);
    std::vector<RandomAddress> addresses;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const auto request = static_cast<std::size_t>(requests_[i]);
      fetch(target.data() + i * target_bytes, tensors.logits.get() + request * target_bytes, target_bytes);
      fetch(draft.data() + i * draft_bytes, tensors.logits.get() + bytes.target + request * draft_bytes,
            draft_bytes);
      fetch(drafted.data() + i * gamma, tensors.drafted.get() + request * gamma, gamma);
      addresses.push_back(address_of(task, requests_[i]));
    }
    VerifyBatch batch = shape_batch(shape);
    batch.target.data = target.data();
    batch.draft.data = draft.data();
    batch.drafted = drafted.data();
    batch.addresses = addresses.data();
    const auto asked = [&](bool sigmoid) {
      return std::any_of(
          task.implementations.begin(), task.implementations.end(),
          [sigmoid](Implementation i) { return (i == Implementation::wagner_sigmoid) == sigmoid; });
    };
    if (asked(false)) exact_ = verify_reference(batch);
    if (asked(true)) sigmoid_ = verify_sigmoid_reference(batch);
  }

  DecisionAgreement compare(Implementation implementation, const std::vector<std::int32_t>& all_accepted,
                            const std::vector<Token>& all_next) const {
    std::vector<std::int32_t> accepted;
    std::vector<Token> next;
    for (const std::int32_t request : requests_) {
      accepted.push_back(all_accepted[static_cast<std::size_t>(request)]);
      next.push_back(all_next[static_cast<std::size_t>(request)]);
    }
    return agreement_with(implementation == Implementation::wagner_sigmoid ? sigmoid_ : exact_,
                          implementation, vocab_, accepted.data(), next.data());
  }

 private:
  template <class T>
  static void fetch(T* host, const T* device, std::size_t count) {
    if (count > 0) SPECLAB_CUDA(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
  }

  std::vector<std::int32_t> requests_;
  std::int32_t vocab_;
  std::vector<ReferenceVerdict> exact_;
  std::vector<ReferenceVerdict> sigmoid_;
};

/// What an implementation's run left: mean of accepted tokens, share of requests with a rejection, and
/// whether its decisions are the reference's.
void count_decisions(const BenchShape& shape, const Tensors& tensors, const ReferenceSample& sample,
                     Implementation implementation, BenchTimes& found) {
  std::vector<std::int32_t> accepted(tensors.requests);
  std::vector<Token> next(tensors.requests);
  SPECLAB_CUDA(cudaMemcpy(accepted.data(), tensors.accepted.get(), accepted.size() * sizeof(std::int32_t),
                          cudaMemcpyDeviceToHost));
  SPECLAB_CUDA(
      cudaMemcpy(next.data(), tensors.next.get(), next.size() * sizeof(Token), cudaMemcpyDeviceToHost));
  double sum = 0;
  double rejecting = 0;
  for (const std::int32_t each : accepted) {
    sum += each;
    rejecting += each < shape.gamma ? 1 : 0;
  }
  found.accepted = sum / shape.requests;
  found.rejecting = rejecting / shape.requests;
  found.decisions = sample.compare(implementation, accepted, next);
}

}  // namespace

BenchMeasurement measure_on_gpu(const BenchTask& task, const std::function<bool()>& stop) {
  const BenchShape& shape = task.shape;
  const GpuDevice device = current_device().value();
  const BenchBytes bytes = bench_bytes(shape, task.implementations);
  const OwnedStream owned = make_stream();
  const cudaStream_t stream = owned.get();
  const Tensors tensors(shape, bytes);
  fill(task, bytes, tensors, stream);
  const VerifyBatch batch = batch_of(shape, bytes, tensors);
  const ReferenceSample sample(task, bytes, tensors);

  BenchMeasurement found;
  std::vector<DeviceArray<unsigned char>> workspaces;
  std::vector<CapturedGraph> graphs;
  const auto add = [&](const char* name, const auto& work) {
    // Once as it is: refused launches then show before the capture.
    work();
    SPECLAB_CUDA(cudaStreamSynchronize(stream));
    graphs.emplace_back(stream, work);
    found.times.push_back({name, {}, 0, 0, {}});
  };
  for (const Implementation each : task.implementations) {
    const std::size_t size = layout_of(each, batch).workspace_bytes;
    workspaces.push_back(device_array<unsigned char>(size));
    SPECLAB_CUDA(cudaMemsetAsync(workspaces.back().get(), absurd_byte, size, stream));
    void* const workspace = workspaces.back().get();
    add(implementations()[static_cast<std::size_t>(each)].name,
        [&] { run_on_gpu(each, batch, workspace, stream); });
    count_decisions(shape, tensors, sample, each, found.times.back());
  }

  const simt::CudaExecutor executor(stream);
  const auto empty = [&] { executor.run<bench::Empty>(simt::launch_of<bench::Empty>(1), {}); };
  add(ceiling::skip, [&] {
    executor.run<bench::SkipVerification>(
        bench::SkipVerification::launch(shape.requests),
        {batch.drafted.data, batch.accepted, batch.next, shape.requests, shape.gamma});
  });
  add(ceiling::empty, empty);
  add(ceiling::two_empty, [&] {
    empty();
    empty();
  });
  const auto* const from = reinterpret_cast<const simt::Vector16*>(tensors.logits.get());
  add(ceiling::copy, [&] {
    const auto vectors = static_cast<std::int64_t>(bytes.copied / sizeof(simt::Vector16));
    executor.run<bench::CopyBytes>(bench::CopyBytes::launch(vectors),
                                   {from, reinterpret_cast<simt::Vector16*>(tensors.copied.get()), vectors});
  });
  add(ceiling::memcpy, [&] {
    SPECLAB_CUDA(cudaMemcpyAsync(tensors.copied.get(), tensors.logits.get(), bytes.copied,
                                 cudaMemcpyDeviceToDevice, stream));
  });
  add(ceiling::read, [&] {
    const auto vectors = static_cast<std::int64_t>(bytes.logits() / sizeof(simt::Vector16));
    executor.run<bench::ReadBytes>(bench::ReadBytes::launch(vectors), {from, vectors, tensors.parity.get()});
  });

  const auto flush = device_array<unsigned char>(task.flushed ? flush_bytes : 0);
  SPECLAB_CUDA(cudaMemsetAsync(flush.get(), 0, task.flushed ? flush_bytes : 0, stream));
  constexpr auto flush_vectors = static_cast<std::int64_t>(flush_bytes / sizeof(simt::Vector16));
  const auto flush_parity =
      device_array<std::uint32_t>(static_cast<std::size_t>(bench::moving_blocks(flush_vectors)));
  const OwnedEvent start = make_event();
  const OwnedEvent end = make_event();
  const long long cycles = static_cast<long long>(device.clock_mhz) * spin_microseconds;
  std::vector<std::size_t> order(graphs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::minstd_rand shuffler(1);
  for (int repetition = -warm_up; repetition < task.repetitions && !stop(); ++repetition) {
    std::shuffle(order.begin(), order.end(), shuffler);
    for (const std::size_t at : order) {
      if (task.flushed) {
        executor.run<bench::ReadBytes>(
            bench::ReadBytes::launch(flush_vectors),
            {reinterpret_cast<const simt::Vector16*>(flush.get()), flush_vectors, flush_parity.get()});
      } else {
        graphs[at].replay(stream);
      }
      spin<<<1, 1, 0, stream>>>(cycles);
      SPECLAB_CUDA(cudaGetLastError());
      SPECLAB_CUDA(cudaEventRecord(start.get(), stream));
      graphs[at].replay(stream);
      SPECLAB_CUDA(cudaEventRecord(end.get(), stream));
      SPECLAB_CUDA(cudaEventSynchronize(end.get()));
      float milliseconds = 0;
      SPECLAB_CUDA(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
      if (repetition >= 0) found.times[at].seconds.push_back(static_cast<double>(milliseconds) / 1e3);
    }
  }
  return found;
}

}  // namespace speclab
