// The sizes at which `speclab bench kernels` measures.
#pragma once

#include <string>
#include <vector>

#include "experiments/bench/kernel_result.hpp"

namespace speclab {

enum class SweepKind {
  axes,  ///< through a centre along each axis, and the corners
  fast,  ///< two sizes
  full,  ///< all combinations
  given  ///< of `sizes`
};

struct KernelSweep {
  SweepKind kind = SweepKind::axes;
  std::vector<BenchShape> sizes;                       ///< for `given`; their dtype is not read
  std::vector<Dtype> dtypes{Dtype::bf16, Dtype::f32};  ///< the first is the leading one
  std::vector<double> alphas{0.3, 0.7, 0.9};
};

/// Where the axes cross: 32 requests, gamma 4, a vocabulary of 128,256; alpha 0.7, or the first one.
BenchShape centre_shape();

/// `axes` has the sizes along requests, gamma and vocabulary and the eight corners of {1, 256} x {1, 16} x
/// {32,000, 256,000} at the leading dtype and the centre's alpha; other dtypes along requests; all alphas and
/// dtypes at the centre. The others are products of sizes, dtypes and alphas.
std::vector<KernelPoint> sweep_points(const KernelSweep& sweep);

/// "B,gamma,V;B,gamma,V". UsageError, naming the part and what is allowed.
std::vector<BenchShape> parse_sizes(const std::string& text);

/// "bf16,f32". UsageError for unknown names.
std::vector<Dtype> parse_dtypes(const std::string& text);

/// ".3,.7". UsageError outside 0.05 to 0.99.
std::vector<double> parse_alphas(const std::string& text);

/// "fused,baseline" or "all". UsageError for unknown names, with those that there are.
std::vector<ImplementationInfo> parse_implementations(const std::string& option, const std::string& text);

/// Those that a device of this compute capability runs; a line on stderr for each of the others.
std::vector<ImplementationInfo> runnable_on(int capability, const std::vector<ImplementationInfo>& wanted);

/// "B = 32, gamma = 4, V = 128,256, bf16".
std::string shape_text(const BenchShape& shape);

}  // namespace speclab
