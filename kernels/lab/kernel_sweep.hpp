// The sizes at which `speclab bench kernels` measures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/base/format/named_entry.hpp"
#include "kernels/lab/kernel_result.hpp"

namespace speclab {

enum class SweepKind {
  axes,  ///< through a centre along each axis, and the corners
  fast,  ///< two sizes
  full,  ///< all combinations
  given  ///< of `sizes`
};

struct KernelSweep {
  SweepKind kind = SweepKind::axes;
  std::vector<KernelWorkload> workloads{KernelWorkload::chains};
  std::vector<BenchShape> sizes;                       ///< for `given`; their dtype and workload are not read
  std::vector<Dtype> dtypes{Dtype::bf16, Dtype::f32};  ///< the first is the leading one
  std::vector<double> alphas{0.3, 0.7, 0.9};
};

/// Where the axes cross: 32 requests, the workload's gamma (4 of chains, 26 of trees), a vocabulary of
/// 128,256; alpha 0.7, or the first one.
BenchShape centre_shape(KernelWorkload workload = KernelWorkload::chains);

/// Of each workload `axes` has the sizes along requests, gamma and vocabulary and the corners of {1, 256} x
/// {least, largest gamma} x {32,000, 256,000} at the leading dtype and the centre's alpha; other dtypes along
/// requests; all alphas and dtypes at the centre. The others are products of sizes, dtypes and alphas.
std::vector<KernelPoint> sweep_points(const KernelSweep& sweep);

/// "B,gamma,V;B,gamma,V". UsageError, naming the part and what is allowed.
std::vector<BenchShape> parse_sizes(const std::string& text);

/// "bf16,f32". UsageError for unknown names.
std::vector<Dtype> parse_dtypes(const std::string& text);

/// ".3,.7". UsageError outside 0.05 to 0.99.
std::vector<double> parse_alphas(const std::string& text);

/// "fused,baseline", or with `with_all` "all": places in `known`, each once. UsageError for unknown
/// names, with those that there are.
std::vector<std::size_t> parse_names(const std::string& option, const std::string& text,
                                     const std::vector<std::string>& known, bool with_all = true);

/// The same of entries with a name.
template <class Info>
std::vector<Info> parse_named(const std::string& option, const std::string& text,
                              std::span<const Info> known) {
  std::vector<Info> chosen;
  for (const std::size_t place : parse_names(option, text, entry_names(known)))
    chosen.push_back(known[place]);
  return chosen;
}

std::vector<ImplementationInfo> parse_implementations(const std::string& option, const std::string& text);
std::vector<BenchMethod> parse_methods(const std::string& option, const std::string& text);
std::vector<KernelWorkload> parse_workloads(const std::string& option, const std::string& text);

/// Whether a device of this compute capability runs what needs another; if not, a line on stderr.
bool runs_on(int capability, const char* name, int needed);

/// Those that a device of this compute capability runs; a line on stderr for each of the others.
template <class Info>
std::vector<Info> runnable_on(int capability, std::vector<Info> wanted) {
  std::erase_if(wanted, [&](const Info& info) { return !runs_on(capability, info.name, info.capability); });
  return wanted;
}

/// "B = 32, gamma = 4, V = 128,256, bf16"; of other workloads than chains with their name before it.
std::string shape_text(const BenchShape& shape);

}  // namespace speclab
