// What `speclab bench kernels` measures, and what its dry run finds: plain structs, from which JSON, tables,
// figures and Markdown are made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "kernels/bench/measure.hpp"

namespace speclab {

/// A size at which something is measured.
struct KernelPoint : BenchShape {
  double alpha = 0.7;  ///< overlap of target and draft that is asked for

  bool operator==(const KernelPoint&) const = default;
};

enum class CacheMode { hot, flushed };
const char* words(CacheMode mode);

/// A program that verifies; what the device allows; or skipping verification, below which nothing can be.
enum class MethodKind { implementation, ceiling, floor };

struct VerificationRow : KernelPoint {
  double realised_alpha = 0;
  std::optional<double> accepted;  ///< tokens a request; none of ceilings
  CacheMode cache = CacheMode::hot;
  std::string method;
  MethodKind kind = MethodKind::implementation;
  std::size_t repetitions = 0;
  double median_us = 0;  ///< here and below: NaN when it was not measured
  double p99_us = 0;
  std::optional<int> draws;  ///< batches of other logits and uniforms, whose repetitions are pooled
  std::optional<double> fastest_draw_us;  ///< medians of single batches, where there are several
  std::optional<double> slowest_draw_us;
  std::optional<double> marginal_us;     ///< of one call among several, BenchTimes::marginal_seconds
  std::optional<double> clock_mhz;       ///< of a multiprocessor, BenchMeasurement::clock_mhz
  double bytes = 0;                      ///< that the method has to move
  double gb_per_s = 0;                   ///< of these bytes
  double of_copy = 0;                    ///< over the rate of the faster of two copies of the logits
  std::optional<double> times_baseline;  ///< how many times as long the other takes; none of ceilings
  std::optional<double> times_wagner_exact;
  std::optional<double> times_wagner_sigmoid;
  std::optional<double> total_variation;  ///< of the first token to the target; none where it is not known
  int compared = 0;                       ///< requests whose decisions were compared with the reference
  int different = 0;                      ///< of them: other decisions, outside single precision's error
};

/// A size or a method that was not measured.
struct LeftOut {
  std::string size;
  std::string method;
  std::string why;
};

struct KernelDevice {
  std::string name;
  std::string capability;
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int highest_clock_mhz = 0;
  int highest_memory_clock_mhz = 0;
  std::string driver_cuda;
  std::string runtime_cuda;
};

/// Which of the two results a file holds.
enum class KernelReportKind { measurement, dry_run };

struct KernelReportHead {
  std::string suite = "kernels";
  KernelReportKind kind = KernelReportKind::measurement;
  std::string version;
  std::string command;
};
template <>
const Typed<VerificationRow>& described();

struct KernelReport : KernelReportHead {
  std::string machine;
  KernelDevice device;
  std::string clocks_before;
  std::string clocks_after;
  int repetitions = 0;
  std::vector<VerificationRow> verification;
  std::vector<LeftOut> left_out;
  bool partial = false;  ///< interrupted
  int failures = 0;  ///< sizes at which CUDA failed, and methods that decided otherwise than the reference
};
template <>
const Typed<KernelReport>& described();

/// One launch of a kernel, as in simt::Launch.
struct LaunchRow {
  std::string kernel;
  std::int64_t blocks = 0;
  std::int32_t threads = 0;
  std::int32_t cluster = 0;
  std::size_t dynamic_shared = 0;
  bool early = false;
};

/// Name of a format: "bf16".
std::string dtype_name(Dtype dtype);
template <>
const Typed<Dtype>& described();
template <>
const Typed<BenchOutcome>& described();

/// One method at one size, unless it is left out there.
struct MethodLayout {
  std::string method;
  std::optional<std::string> left_out;  ///< why; nothing else is then set
  std::vector<LaunchRow> launches;
  BenchOutcome expected;  ///< what bytes are counted for
  std::uint64_t workspace_bytes = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  std::vector<std::string> problems;
};

struct DryPoint : KernelPoint {
  std::uint64_t tensor_bytes = 0;
  std::uint64_t device_bytes = 0;
  bool past_32_bits = false;  ///< elements of the target's logits
  bool fits = false;          ///< into the assumed memory
  std::vector<MethodLayout> methods;
};

/// A small batch run in the emulator, unless the method is left out.
struct EmulatedRow : BenchShape {
  std::string method;
  std::optional<std::string> left_out;
  std::uint64_t loaded_bytes = 0;
  double counted_bytes = 0;
  int agreed = 0;
  int within_band = 0;  ///< decisions that single precision may make either way
  int different = 0;
};

struct DryRunReport : KernelReportHead {
  double assumed_memory_gib = 0;
  std::vector<DryPoint> points;
  std::vector<EmulatedRow> emulated;
  std::size_t configurations = 0;
  std::size_t left_out = 0;  ///< points that do not fit
  std::size_t problems = 0;
};
template <>
const Typed<DryRunReport>& described();

}  // namespace speclab
