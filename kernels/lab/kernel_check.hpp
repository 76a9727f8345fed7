// `speclab check kernels`: do verification kernels decide as the reference does, and draw from the target's
// distribution?
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
  std::uint64_t requests = 1000000;  ///< of each test of a distribution
  double level = 0.001;              ///< chance of a false alarm over all tests of exact implementations
  std::string command;               ///< recorded
};

/// What a test came to. `refuted` is what should become of an implementation that is not exact; `left_out`
/// says why in the detail.
enum class CheckOutcome { passed, failed, refuted, left_out };

struct KernelCheckRow {
  std::string test;
  std::string implementation;
  Dtype dtype = Dtype::f32;
  CheckOutcome outcome = CheckOutcome::passed;
  std::string detail;
};

/// The row of a test that has not been run: the detail says why the implementation cannot, or is empty.
KernelCheckRow unchecked_row(std::string test, const ImplementationInfo& info, const VerifyBatch& batch);

/// Runs a place's kernels on batches in host memory. `variation` 0 is the usual way; others must give the
/// same bits: other orders of threads in the emulator, replay of a CUDA graph on the GPU.
BatchRunner runner_of(CheckPlace place, int variation = 0);

/// Variations that a place has, besides the usual way.
int variations_of(CheckPlace place);

/// Decisions over shapes, formats and rules, against the reference of each implementation.
std::vector<KernelCheckRow> check_decisions(const KernelCheckOptions& options);

/// Inputs at the edges of what is allowed, and beyond.
std::vector<KernelCheckRow> check_edges(const KernelCheckOptions& options);

/// The same bits at another place in the batch, in another batch, again, and in other orders.
std::vector<KernelCheckRow> check_bits(const KernelCheckOptions& options);

/// Chi-squared tests of output distributions; see distributions.hpp.
std::vector<KernelCheckRow> check_distributions(const KernelCheckOptions& options);

/// What all four came to.
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
template <>
const Typed<KernelCheckReport>& described();

/// Throws Stopped after a Ctrl-C.
KernelCheckReport check_kernels(const KernelCheckOptions& options);

/// One line per test that `check_kernels` would run.
std::vector<std::string> kernel_check_list(const KernelCheckOptions& options);

std::string kernel_check_text(const KernelCheckReport& report);

}  // namespace speclab
