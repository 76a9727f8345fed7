// Times of the verification kernels on a GPU, and of what they are compared with, at one size.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/bench/made_logits.hpp"
#include "kernels/verify/agreement.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

struct BenchShape {
  std::int32_t requests = 1;
  std::int32_t gamma = 4;
  std::int32_t vocab = 32000;
  Dtype dtype = Dtype::bf16;  ///< of target and draft

  bool operator==(const BenchShape&) const = default;
};

/// The batch of a measurement, with pointers that are null or not as they will be, for `layout_of` and
/// `traffic_of`; not to be run.
VerifyBatch shape_batch(const BenchShape& shape);

/// Bytes on the device, in exact arithmetic (none overflows for sizes that a batch may have).
struct BenchBytes {
  std::uint64_t target = 0;
  std::uint64_t draft = 0;
  std::uint64_t copied = 0;      ///< where the copy goes: half the logits
  std::uint64_t small = 0;       ///< tokens, addresses, results
  std::uint64_t workspaces = 0;  ///< of all implementations that run
  std::uint64_t logits() const { return target + draft; }
  std::uint64_t total() const { return logits() + copied + small + workspaces; }
};

BenchBytes bench_bytes(const BenchShape& shape, const std::vector<Implementation>& implementations);

/// Inputs by the kernels that make them on a GPU, in the emulator: target [requests, gamma + 1, vocab], draft
/// [requests, gamma, vocab], drafted [requests, gamma].
void make_inputs_emulated(const BenchShape& shape, const MadeLogits& how, void* target, void* draft,
                          Token* drafted);

/// Names of what is measured beside the implementations.
namespace ceiling {
inline constexpr const char* skip = "skip verification";
inline constexpr const char* empty = "empty launch";
inline constexpr const char* two_empty = "two empty launches";
inline constexpr const char* copy = "copy kernel";
inline constexpr const char* memcpy = "cudaMemcpyAsync";
inline constexpr const char* read = "read kernel";
}  // namespace ceiling

struct BenchTask {
  BenchShape shape;
  MadeLogits logits;
  std::vector<Implementation> implementations;
  bool flushed = false;  ///< read other memory before each repetition; else the second cache keeps what fits
  int repetitions = 200;
};

struct BenchTimes {
  std::string name;
  std::vector<double> seconds;  ///< one of each repetition
  /// Of implementations: mean number of accepted tokens, and the share of requests that rejected one.
  double accepted = 0;
  double rejecting = 0;
  DecisionAgreement decisions;  ///< of some requests, beside the reference
};

struct BenchMeasurement {
  std::vector<BenchTimes> times;  ///< implementations as asked for, then the six above
};

/// Each method is captured in a CUDA graph and replayed `repetitions` times, all methods in random order
/// within each repetition. A kernel that spins keeps the device busy while the host enqueues, so that times
/// hold no work of the host. `stop` is asked between repetitions; what is there so far is returned.
/// Throws std::runtime_error with call, file and line when CUDA fails.
BenchMeasurement measure_on_gpu(const BenchTask& task, const std::function<bool()>& stop);

}  // namespace speclab
