// `speclab check kernels`: do verification kernels decide as the reference does, and draw from the target's
// distribution?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/check/host_batch.hpp"
#include "experiments/format/shape.hpp"

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
  std::string dtype;
  CheckOutcome outcome = CheckOutcome::passed;
  std::string detail;
};

/// Runs a place's kernels on batches in host memory. `variation` 0 is the usual way; others must give the
/// same bits: other orders of threads in the emulator, replay of a CUDA graph on the GPU.
BatchRunner runner_of(CheckPlace place, int variation = 0);

/// Variations that a place has, besides the usual way.
int variations_of(CheckPlace place);

/// Decisions of exact implementations over shapes, formats and rules, against verify_reference.
std::vector<KernelCheckRow> check_decisions(const KernelCheckOptions& options);

/// Inputs at the edges of what is allowed, and beyond.
std::vector<KernelCheckRow> check_edges(const KernelCheckOptions& options);

/// The same bits at another place in the batch, in another batch, again, and in other orders.
std::vector<KernelCheckRow> check_bits(const KernelCheckOptions& options);

/// Chi-squared tests of output distributions; see kernel_distributions.hpp.
std::vector<KernelCheckRow> check_distributions(const KernelCheckOptions& options);

/// All four. Empty after a Ctrl-C. "failures" counts failed rows.
std::optional<Json> check_kernels(const KernelCheckOptions& options);

/// One line a test that `check_kernels` would run.
std::vector<std::string> kernel_check_list(const KernelCheckOptions& options);

std::string kernel_check_text(const Json& result);

}  // namespace speclab
