// The results of `speclab bench kernels` and of its dry run, as structs from which JSON, tables and CSV are
// made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "kernels/bench/measure.hpp"
#include "kernels/gpu/device.hpp"

namespace speclab {

/// A size at which methods are measured.
struct KernelPoint : BenchShape {
  double alpha = 0.7;  ///< wanted overlap of target and draft

  bool operator==(const KernelPoint&) const = default;
};

enum class CacheMode { hot, flushed };
const char* words(CacheMode mode);

/// implementation: a program that verifies. ceiling: an operation that shows what the device allows.
enum class MethodKind { implementation, ceiling };

struct VerificationRow : KernelPoint {
  double realised_alpha = 0;
  std::optional<double> accepted;  ///< tokens per request; empty for ceilings
  CacheMode cache = CacheMode::hot;
  std::string method;
  MethodKind kind = MethodKind::implementation;
  std::size_t repetitions = 0;
  double median_us = 0;  ///< this and the times below: NaN if not measured
  double p99_us = 0;
  /// Batches with different logits and uniforms, whose repetitions are pooled.
  std::optional<int> draws;
  /// Medians of single batches, if there are several.
  std::optional<double> fastest_draw_us;
  std::optional<double> slowest_draw_us;
  std::optional<double> marginal_us;  ///< one call among several: BenchTimes::marginal_seconds
  std::optional<double> clock_mhz;    ///< clock of a multiprocessor: BenchMeasurement::clock_mhz
  double bytes = 0;                   ///< bytes that the method has to move
  double gb_per_s = 0;                ///< rate of these bytes
  double of_copy = 0;  ///< that rate, divided by the rate of the faster of two copies of the logits
  int compared = 0;    ///< requests whose decisions were compared with the reference
  int different = 0;   ///< requests whose decisions differ by more than single precision's error
};

/// A size or a method that was not measured, or whose times are left out because it failed, with the reason.
struct LeftOut {
  std::string size;
  std::string method;
  std::string why;
};

/// The kind of result that a file holds.
enum class KernelReportKind { measurement, dry_run };

struct KernelReportHead {
  std::string suite = "kernels";
  KernelReportKind kind = KernelReportKind::measurement;
  std::string version;
  std::string command;
};
SPECLAB_IS_DESCRIBED(VerificationRow);

struct KernelReport : KernelReportHead {
  std::string machine;
  GpuDevice device;
  int repetitions = 0;
  std::vector<VerificationRow> verification;
  std::vector<LeftOut> left_out;
  bool partial = false;  ///< interrupted
  /// Number of sizes at which CUDA failed, and of methods whose decisions differed from the reference's.
  int failures = 0;
};
SPECLAB_IS_DESCRIBED(KernelReport);

/// One launch of a kernel, as in simt::Launch.
struct LaunchRow {
  std::string kernel;
  std::int64_t blocks = 0;
  std::int32_t threads = 0;
  std::int32_t cluster = 0;
  std::size_t dynamic_shared = 0;
  bool early = false;
};

/// Returns the name of a format, such as "bf16".
std::string dtype_name(Dtype dtype);
SPECLAB_IS_DESCRIBED(Dtype);
SPECLAB_IS_DESCRIBED(BenchOutcome);

/// Launches and bytes of one method at one size, computed without running it; or the reason why it is left
/// out.
struct MethodLayout {
  std::string method;
  std::optional<std::string> left_out;  ///< reason; if set, nothing else is
  std::vector<LaunchRow> launches;
  BenchOutcome expected;  ///< outcome for which bytes are counted
  std::uint64_t workspace_bytes = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  std::vector<std::string> problems;
};

struct DryPoint : KernelPoint {
  std::vector<MethodLayout> methods;
};

struct DryRunReport : KernelReportHead {
  std::vector<DryPoint> points;
  std::size_t configurations = 0;
  std::size_t problems = 0;
};
SPECLAB_IS_DESCRIBED(DryRunReport);

}  // namespace speclab
