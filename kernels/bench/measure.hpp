// Times of the verification kernels on a GPU, and of what they are compared with, at one size.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/bench/bench_method.hpp"

namespace speclab {

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
  std::vector<BenchMethod> methods;  ///< which can run batches of the shape
  bool flushed = false;   ///< read other memory before each repetition; else the second cache keeps what fits
  bool marginal = false;  ///< measure the marginal time of a call, too
  int repetitions = 200;
};

struct BenchTimes {
  std::string name;
  std::vector<double> seconds = {};       ///< one of each repetition
  std::vector<double> draw_seconds = {};  ///< medians of the batches that are pooled here; none of one batch
  /// Of one call among several: (a graph of 20 calls - a graph of 10) / 10. Of methods, where it is asked
  /// for.
  std::optional<double> marginal_seconds = {};
  BenchOutcome outcome = {};         ///< of methods; where paths do not tell it, what is accepted alone
  DecisionAgreement decisions = {};  ///< of some requests, beside the reference
  int replayed_otherwise =
      0;  ///< requests that a replay of the graph leaves otherwise than the launch before it
};

struct BenchMeasurement {
  std::vector<BenchTimes> times;  ///< methods as asked for, then the six above
  double clock_mhz = 0;           ///< of a multiprocessor, right after the repetitions
};

/// Each method is captured in a CUDA graph and replayed `repetitions` times, all methods in random order
/// within each repetition. A kernel that spins keeps the device busy while the host enqueues, so that times
/// hold no work of the host. `stop` is asked between repetitions; what is there so far is returned.
/// Throws std::runtime_error with call, file and line when CUDA fails.
BenchMeasurement measure_on_gpu(const BenchTask& task, const std::function<bool()>& stop);

}  // namespace speclab
