// Measures at one size how long the verification kernels, and the operations they are compared with, take on
// a GPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/bench/bench_method.hpp"

namespace speclab {

/// Names of the operations that methods are compared with.
namespace ceiling {
inline constexpr const char* empty = "empty launch";
inline constexpr const char* two_empty = "two empty launches";
inline constexpr const char* copy = "copy kernel";
inline constexpr const char* memcpy = "cudaMemcpyAsync";
inline constexpr const char* read = "read kernel";
}  // namespace ceiling

struct BenchTask {
  BenchShape shape;
  MadeLogits logits;
  std::vector<BenchMethod> methods;  ///< those that can run batches of the shape
  /// Read other memory before each repetition; otherwise the L2 cache keeps what fits.
  bool flushed = false;
  bool marginal = false;  ///< measure the marginal time of a call, too
  int repetitions = 200;
};

struct BenchTimes {
  std::string name;
  std::vector<double> seconds = {};  ///< one per repetition
  /// Medians of single batches, if several batches are pooled here; otherwise empty.
  std::vector<double> draw_seconds = {};
  /// Time of one call among several: (a graph of 20 calls - a graph of 10) / 10. Only for methods, and only
  /// if asked for.
  std::optional<double> marginal_seconds = {};
  /// Only for methods. If paths do not tell the outcome, only `accepted` is set.
  BenchOutcome outcome = {};
  DecisionAgreement decisions = {};  ///< agreement with the reference, on some requests
  /// Requests on which a replay of the graph and the launch before it differ.
  int replayed_otherwise = 0;
};

struct BenchMeasurement {
  std::vector<BenchTimes> times;  ///< methods as asked for, then the five operations above
  double clock_mhz = 0;           ///< clock of a multiprocessor right after the repetitions
};

/// Captures each method in a CUDA graph and replays it `repetitions` times, all methods in random order
/// within each repetition. A kernel that spins keeps the device busy while the host enqueues, so that times
/// contain no work of the host. Calls `stop` between repetitions; once it returns true, returns the
/// measurements made so far. Throws std::runtime_error with call, file and line when CUDA fails.
BenchMeasurement measure_on_gpu(const BenchTask& task, const std::function<bool()>& stop);

}  // namespace speclab
