#include "kernels/bench/measure.hpp"

#include <algorithm>
#include <map>
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
/// Duration for which the device is kept busy: longer than the host takes to enqueue an event, a graph of
/// several launches and another event.
constexpr int spin_microseconds = 200;
/// Bytes that are read to flush the L2 cache: several times the largest cache, since a cache may keep lines
/// that are used again. Reads leave no line that would have to be written back during a measurement.
constexpr std::size_t flush_bytes = std::size_t{256} << 20U;
/// Calls per graph in the two graphs whose difference gives the marginal time, and the number of replays.
constexpr int few_calls = 10;
constexpr int many_calls = 20;
constexpr int marginal_repetitions = 30;
/// Cycles over which the clock is measured: about a millisecond.
constexpr long long clock_cycles = 2'000'000;
/// Number of requests whose decisions are compared with the reference, which takes tens of milliseconds for
/// each.
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

/// Returns the seconds that the device takes for the work that `work` enqueues, from two events on the
/// stream.
class Timer {
 public:
  explicit Timer(cudaStream_t stream) : stream_(stream) {}

  template <class Work>
  double operator()(const Work& work) const {
    SPECLAB_CUDA(cudaEventRecord(start_.get(), stream_));
    work();
    SPECLAB_CUDA(cudaEventRecord(end_.get(), stream_));
    SPECLAB_CUDA(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    SPECLAB_CUDA(cudaEventElapsedTime(&milliseconds, start_.get(), end_.get()));
    return static_cast<double>(milliseconds) / 1e3;
  }

 private:
  cudaStream_t stream_;
  OwnedEvent start_ = make_event();
  OwnedEvent end_ = make_event();
};

void enqueue_spin(long long cycles, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>(cycles);
  SPECLAB_CUDA(cudaGetLastError());
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Memory of the device, with the interface of HostMemory (bench_batch.hpp).
class DeviceMemory {
 public:
  template <class T>
  T* room(std::size_t count) {
    kept_.push_back(device_array<unsigned char>(count * sizeof(T)));
    return reinterpret_cast<T*>(kept_.back().get());
  }
  template <class T>
  void put(T* to, const T* from, std::size_t count) {
    if (count > 0) SPECLAB_CUDA(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  template <class T>
  void fetch(T* to, const T* from, std::size_t count) const {
    if (count > 0) SPECLAB_CUDA(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost));
  }

 private:
  std::vector<DeviceArray<unsigned char>> kept_;
};

RandomAddress address_of(const BenchTask& task, std::int32_t request) {
  return {task.logits.seed, static_cast<std::uint32_t>(request), 0};
}

std::vector<RandomAddress> addresses_of(const BenchTask& task, const std::vector<std::int32_t>& requests) {
  std::vector<RandomAddress> addresses;
  for (const std::int32_t request : requests) addresses.push_back(address_of(task, request));
  return addresses;
}

BenchBatch filled_batch(const BenchTask& task, DeviceMemory& memory, cudaStream_t stream) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(task.shape.requests));
  std::iota(all.begin(), all.end(), 0);
  const BenchBatch batch = place_batch(memory, task.shape, addresses_of(task, all));
  // A copy may return before it has arrived, and no other stream waits for it.
  SPECLAB_CUDA(cudaDeviceSynchronize());
  make_inputs(simt::CudaExecutor(stream), task.shape, task.logits, batch);
  SPECLAB_CUDA(cudaStreamSynchronize(stream));
  return batch;
}

/// Some requests of the batch in host memory, and the reference's verdicts on them.
class ReferenceSample {
 public:
  ReferenceSample(const BenchTask& task, const DeviceMemory& memory, const BenchBatch& batch)
      : requests_(spread_requests(task.shape.requests, compared_requests)),
        inputs_(
            fetch_inputs(host_, memory, task.shape, batch, requests_, addresses_of(task, requests_)).tree) {
    for (const BenchMethod& method : task.methods) {
      if (verdicts_.count(method.reference) == 0) verdicts_[method.reference] = method.reference(inputs_);
    }
  }

  DecisionAgreement compare(const BenchMethod& method, const BenchResults& all) const {
    BenchResults sample{all.nodes, {}, {}, {}};
    for (const std::int32_t request : requests_) {
      const auto at = static_cast<std::size_t>(request);
      sample.accepted.push_back(all.accepted[at]);
      sample.next.push_back(all.next[at]);
      if (all.path.empty()) continue;
      const auto first = all.path.begin() + std::ptrdiff_t{request} * all.nodes;
      sample.path.insert(sample.path.end(), first, first + all.nodes);
    }
    return agreement_of(method, verdicts_.at(method.reference), inputs_.batch.vocab, sample);
  }

 private:
  std::vector<std::int32_t> requests_;
  HostMemory host_;
  TreeBatch inputs_;
  std::map<decltype(BenchMethod::reference), std::vector<BenchVerdict>> verdicts_;
};

/// Overwrites the results of earlier runs.
void forget_results(const TreeBatch& tree, cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(tree.batch.requests) * sizeof(std::int32_t);
  SPECLAB_CUDA(cudaMemsetAsync(tree.batch.accepted, absurd_byte, bytes, stream));
  SPECLAB_CUDA(cudaMemsetAsync(tree.batch.next, absurd_byte, bytes, stream));
  if (tree.path == nullptr) return;
  SPECLAB_CUDA(
      cudaMemsetAsync(tree.path, absurd_byte, bytes * static_cast<std::size_t>(tree.batch.gamma), stream));
}

/// Counts the requests on which two runs differ in any bit. A path may hold anything after the accepted
/// nodes.
int differing_requests(const BenchResults& one, const BenchResults& other) {
  int count = 0;
  for (std::size_t i = 0; i < one.accepted.size(); ++i) {
    const auto request = static_cast<std::int32_t>(i);
    const bool same = one.accepted[i] == other.accepted[i] && one.next[i] == other.next[i] &&
                      (one.path.empty() || one.path_of(request) == other.path_of(request));
    count += same ? 0 : 1;
  }
  return count;
}

void run_method(const BenchMethod& method, const TreeBatch& tree, void* workspace, cudaStream_t stream) {
  if (method.branches()) return run_tree_on_gpu(method.asked_of(tree, workspace), stream);
  run_on_gpu(*method.of_chains, tree.batch, workspace, stream);
}

/// Returns the median time of one further call, from graphs of few calls and of many.
double seconds_of_a_call(const std::pair<CapturedGraph, CapturedGraph>& few_and_many, const Timer& timed,
                         long long cycles, cudaStream_t stream) {
  std::vector<double> differences;
  for (int repetition = 0; repetition < marginal_repetitions; ++repetition) {
    const auto time_of = [&](const CapturedGraph& graph) {
      enqueue_spin(cycles, stream);
      return timed([&] { graph.replay(stream); });
    };
    const double few = time_of(few_and_many.first);
    differences.push_back((time_of(few_and_many.second) - few) / (many_calls - few_calls));
  }
  return median_of(differences);
}

/// Reads more than the L2 cache holds, so that nothing of a batch is left in it.
class CacheFlush {
 public:
  CacheFlush(bool wanted, cudaStream_t stream)
      : wanted_(wanted), bytes_(device_array<unsigned char>(wanted ? flush_bytes : 0)) {
    SPECLAB_CUDA(cudaMemsetAsync(bytes_.get(), 0, wanted ? flush_bytes : 0, stream));
  }

  /// Returns false and reads nothing if no flush is wanted.
  bool run(const simt::CudaExecutor& executor) const {
    if (!wanted_) return false;
    executor.run<bench::ReadBytes>(
        bench::ReadBytes::launch(vectors),
        {reinterpret_cast<const simt::Vector16*>(bytes_.get()), vectors, parity_.get()});
    return true;
  }

 private:
  static constexpr auto vectors = static_cast<std::int64_t>(flush_bytes / sizeof(simt::Vector16));
  bool wanted_;
  DeviceArray<unsigned char> bytes_;
  DeviceArray<std::uint32_t> parity_ =
      device_array<std::uint32_t>(static_cast<std::size_t>(bench::moving_blocks(vectors)));
};

/// Draws a new random order of the measured graphs for each repetition.
class ShuffledOrder {
 public:
  explicit ShuffledOrder(std::size_t count) : order_(count) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  const std::vector<std::size_t>& next() {
    std::shuffle(order_.begin(), order_.end(), shuffler_);
    return order_;
  }

 private:
  std::vector<std::size_t> order_;
  std::minstd_rand shuffler_{1};
};

}  // namespace

BenchMeasurement measure_on_gpu(const BenchTask& task, const std::function<bool()>& stop) {
  const BenchShape& shape = task.shape;
  const GpuDevice device = current_device().value();
  const BenchBytes bytes = bench_bytes(shape, task.methods);
  const OwnedStream owned = make_stream();
  const cudaStream_t stream = owned.get();
  DeviceMemory memory;
  const BenchBatch placed = filled_batch(task, memory, stream);
  const TreeBatch& tree = placed.tree;
  const ReferenceSample sample(task, memory, placed);
  const DraftTree drafts = draft_plan(shape).tree;

  BenchMeasurement found;
  std::vector<CapturedGraph> graphs;
  std::vector<std::pair<CapturedGraph, CapturedGraph>> several;  ///< for each method: few calls, and many
  /// The results of each method's launch without a graph.
  std::vector<BenchResults> launched;
  const auto add = [&](const char* name, const auto& work) {
    // The first run is not captured, so that refused launches show before the capture.
    work();
    SPECLAB_CUDA(cudaStreamSynchronize(stream));
    graphs.emplace_back(stream, work);
    found.times.push_back({.name = name});
  };
  for (const BenchMethod& method : task.methods) {
    const std::size_t size = layout_of(method, tree).workspace_bytes;
    auto* const workspace = memory.room<unsigned char>(size);
    SPECLAB_CUDA(cudaMemsetAsync(workspace, absurd_byte, size, stream));
    forget_results(tree, stream);
    const auto call = [&method, &tree, workspace, stream] { run_method(method, tree, workspace, stream); };
    add(method.name, call);
    if (task.marginal) {
      const auto calls = [&](int count) {
        return CapturedGraph(stream, [&] {
          for (int i = 0; i < count; ++i) call();
        });
      };
      several.push_back({calls(few_calls), calls(many_calls)});
    }
    const BenchResults& results = launched.emplace_back(fetch_results(memory, tree));
    found.times.back().outcome = outcome_of(drafts, results);
    found.times.back().decisions = sample.compare(method, results);
  }

  const simt::CudaExecutor executor(stream);
  const auto empty = [&] { executor.run<bench::Empty>(simt::launch_of<bench::Empty>(1), {}); };
  add(ceiling::empty, empty);
  add(ceiling::two_empty, [&] {
    empty();
    empty();
  });
  const auto* const from = reinterpret_cast<const simt::Vector16*>(placed.logits);
  auto* const to = memory.room<simt::Vector16>(bytes.copied / sizeof(simt::Vector16));
  add(ceiling::copy, [&] {
    const auto vectors = static_cast<std::int64_t>(bytes.copied / sizeof(simt::Vector16));
    executor.run<bench::CopyBytes>(bench::CopyBytes::launch(vectors), {from, to, vectors});
  });
  add(ceiling::memcpy, [&] {
    SPECLAB_CUDA(cudaMemcpyAsync(to, placed.logits, bytes.copied, cudaMemcpyDeviceToDevice, stream));
  });
  const auto vectors_read = static_cast<std::int64_t>(bytes.logits() / sizeof(simt::Vector16));
  auto* const parity =
      memory.room<std::uint32_t>(static_cast<std::size_t>(bench::moving_blocks(vectors_read)));
  add(ceiling::read, [&] {
    executor.run<bench::ReadBytes>(bench::ReadBytes::launch(vectors_read), {from, vectors_read, parity});
  });

  const CacheFlush flush(task.flushed, stream);
  const Timer timed(stream);
  const long long cycles = static_cast<long long>(device.clock_mhz) * spin_microseconds;
  ShuffledOrder order(graphs.size());
  for (int repetition = -warm_up; repetition < task.repetitions && !stop(); ++repetition) {
    for (const std::size_t at : order.next()) {
      if (!flush.run(executor)) graphs[at].replay(stream);
      enqueue_spin(cycles, stream);
      const double seconds = timed([&] { graphs[at].replay(stream); });
      if (repetition >= 0) found.times[at].seconds.push_back(seconds);
    }
  }
  found.clock_mhz =
      static_cast<double>(clock_cycles) / timed([&] { enqueue_spin(clock_cycles, stream); }) / 1e6;
  for (std::size_t at = 0; at < several.size() && !stop(); ++at)
    found.times[at].marginal_seconds = seconds_of_a_call(several[at], timed, cycles, stream);
  // The measured graphs themselves are compared with the launches, after all their replays.
  for (std::size_t at = 0; at < launched.size(); ++at) {
    forget_results(tree, stream);
    graphs[at].replay(stream);
    SPECLAB_CUDA(cudaStreamSynchronize(stream));
    found.times[at].replayed_otherwise = differing_requests(fetch_results(memory, tree), launched[at]);
  }
  return found;
}

}  // namespace speclab
