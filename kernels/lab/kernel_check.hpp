// `speclab check kernels`: tests whether verification kernels decide as the reference does, and draw from the
// target's distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "kernels/lab/request_batch.hpp"

namespace speclab {

enum class CheckPlace { gpu, emulator };

struct KernelCheckOptions {
  CheckPlace place = CheckPlace::emulator;
  std::vector<ImplementationInfo> implementations;
  std::vector<Dtype> dtypes{Dtype::f32, Dtype::bf16};
  std::uint64_t requests = 1000000;  ///< per test of a distribution
  /// Probability of a false alarm over all tests of exact implementations.
  double level = 0.001;
  std::string command;  ///< recorded in the report
};

/// The outcome of a test. An implementation that is not exact should be `refuted`. For `left_out` the detail
/// has the reason.
enum class CheckOutcome { passed, failed, refuted, left_out };

struct KernelCheckRow {
  std::string test;
  std::string implementation;
  Dtype dtype = Dtype::f32;
  CheckOutcome outcome = CheckOutcome::passed;
  std::string detail;
};

/// Returns the row of a test that has not been run: the detail has the reason why the implementation cannot
/// run it, or is empty.
KernelCheckRow unchecked_row(std::string test, const ImplementationInfo& info, const VerifyBatch& batch);

/// Returns a function that runs kernels at `place` on batches in host memory. `variation` 0 is the usual
/// order. Others must give the same bits: other orders of threads in the emulator, replay of a CUDA graph on
/// the GPU.
BatchRunner runner_of(CheckPlace place, int variation = 0);

/// Returns the number of variations above 0 at a place.
int variations_of(CheckPlace place);

/// Checks decisions over shapes, formats and rules against the reference of each implementation.
std::vector<KernelCheckRow> check_decisions(const KernelCheckOptions& options);

/// Checks inputs at the edges of what is allowed, and beyond.
std::vector<KernelCheckRow> check_edges(const KernelCheckOptions& options);

/// Checks that results have the same bits at another place in the batch, in another batch, when repeated, and
/// in other orders.
std::vector<KernelCheckRow> check_bits(const KernelCheckOptions& options);

/// Runs chi-squared tests of output distributions; see distributions.hpp.
std::vector<KernelCheckRow> check_distributions(const KernelCheckOptions& options);

/// The results of all four checks.
struct KernelCheckReport {
  std::string version;
  std::string command;
  CheckPlace place = CheckPlace::emulator;
  std::optional<std::string> device;
  double level = 0;
  std::uint64_t requests = 0;
  std::vector<KernelCheckRow> rows = {};
  std::size_t failures = 0;  ///< failed rows
};
SPECLAB_IS_DESCRIBED(KernelCheckReport);

/// Runs all checks. Throws Stopped after a Ctrl-C.
KernelCheckReport check_kernels(const KernelCheckOptions& options);

std::string kernel_check_text(const KernelCheckReport& report);

}  // namespace speclab
