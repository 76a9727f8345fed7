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
/// Longer than the host takes to enqueue an event, a graph and an event.
constexpr int spin_microseconds = 50;

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

void fill(const BenchTask& task, const BenchBytes& bytes, const Tensors& tensors, cudaStream_t stream) {
  make_inputs(simt::CudaExecutor(stream), task.shape, task.logits, tensors.logits.get(),
              tensors.logits.get() + bytes.target, tensors.drafted.get());
  std::vector<RandomAddress> addresses(tensors.requests);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    addresses[i] = {task.logits.seed, static_cast<std::uint32_t>(i), 0};
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

/// Mean of accepted tokens and share of requests with a rejection, of the run before.
void count_accepted(const BenchShape& shape, const Tensors& tensors, BenchTimes& found) {
  std::vector<std::int32_t> accepted(tensors.requests);
  SPECLAB_CUDA(cudaMemcpy(accepted.data(), tensors.accepted.get(), accepted.size() * sizeof(std::int32_t),
                          cudaMemcpyDeviceToHost));
  double sum = 0;
  double rejecting = 0;
  for (const std::int32_t each : accepted) {
    sum += each;
    rejecting += each < shape.gamma ? 1 : 0;
  }
  found.accepted = sum / shape.requests;
  found.rejecting = rejecting / shape.requests;
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

  BenchMeasurement found;
  std::vector<DeviceArray<unsigned char>> workspaces;
  std::vector<CapturedGraph> graphs;
  const auto add = [&](const char* name, const auto& work) {
    // Once as it is: refused launches then show before the capture.
    work();
    SPECLAB_CUDA(cudaStreamSynchronize(stream));
    graphs.emplace_back(stream, work);
    found.times.push_back({name, {}, 0, 0});
  };
  for (const Implementation each : task.implementations) {
    const std::size_t size = layout_of(each, batch).workspace_bytes;
    workspaces.push_back(device_array<unsigned char>(size));
    SPECLAB_CUDA(cudaMemsetAsync(workspaces.back().get(), 0, size, stream));
    void* const workspace = workspaces.back().get();
    add(implementations()[static_cast<std::size_t>(each)].name,
        [&] { run_on_gpu(each, batch, workspace, stream); });
    count_accepted(shape, tensors, found.times.back());
  }

  const simt::CudaExecutor executor(stream);
  const auto empty = [&] { executor.run<bench::Empty>(simt::launch_of<bench::Empty>(1), {}); };
  add(ceiling::skip, [&] {
    executor.run<bench::SkipVerification>(
        bench::SkipVerification::launch(shape.requests),
        {batch.drafted, batch.accepted, batch.next, shape.requests, shape.gamma});
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

  const std::size_t flush_bytes = 2 * device.l2_bytes;
  const auto flush = device_array<unsigned char>(task.flushed ? flush_bytes : 0);
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
        SPECLAB_CUDA(cudaMemsetAsync(flush.get(), repetition & 0xff, flush_bytes, stream));
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
