// The sizes at which `speclab bench kernels` measures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/base/format/named_entry.hpp"
#include "kernels/lab/kernel_result.hpp"

namespace speclab {

enum class SweepKind {
  axes,  ///< along each axis through a centre, and the corners
  fast,  ///< two sizes
  given  ///< the sizes in `sizes`
};

struct KernelSweep {
  SweepKind kind = SweepKind::axes;
  std::vector<KernelWorkload> workloads{KernelWorkload::chains};
  /// For `given`; their dtype and workload are not read.
  std::vector<BenchShape> sizes;
  std::vector<Dtype> dtypes{Dtype::bf16, Dtype::f32};  ///< the first is the leading format
  std::vector<double> alphas{0.3, 0.7, 0.9};
};

/// Returns the points of a sweep. For each workload `axes` has the sizes along requests, gamma and vocabulary
/// through a centre (32 requests, gamma 4 or trees of 26 nodes, 128,256 ids, alpha 0.7 or the first one)
/// and the corners of {1, 256} x {least, largest gamma} x {32,000, 256,000} at the leading dtype and the
/// centre's alpha; other dtypes along requests; and all alphas and dtypes at the centre. The other kinds are
/// products of sizes, dtypes and alphas.
std::vector<KernelPoint> sweep_points(const KernelSweep& sweep);

/// Parses "B,gamma,V;B,gamma,V". Throws UsageError with the part and what is allowed.
std::vector<BenchShape> parse_sizes(const std::string& text);

/// Parses "bf16,f32". Throws UsageError for unknown names.
std::vector<Dtype> parse_dtypes(const std::string& text);

/// Parses ".3,.7". Throws UsageError for numbers outside 0.05 to 0.99.
std::vector<double> parse_alphas(const std::string& text);

/// Parses "fused,baseline", or with `with_all` also "all", and returns indices into `known`, each once.
/// Throws UsageError for an unknown name, with a suggestion.
std::vector<std::size_t> parse_names(const std::string& option, const std::string& text,
                                     const std::vector<std::string>& known, bool with_all = true);

/// Does the same for entries with a name.
template <class Info>
std::vector<Info> parse_named(const std::string& option, const std::string& text,
                              std::span<const Info> known) {
  std::vector<Info> chosen;
  for (const std::size_t place : parse_names(option, text, entry_names(known)))
    chosen.push_back(known[place]);
  return chosen;
}

std::vector<KernelWorkload> parse_workloads(const std::string& option, const std::string& text);

/// Returns whether a device with compute capability `capability` runs what needs `needed`; if not, prints a
/// line to stderr.
bool runs_on(int capability, const char* name, int needed);

/// Returns those entries that a device of this compute capability runs; prints a line to stderr for each of
/// the others.
template <class Info>
std::vector<Info> runnable_on(int capability, std::vector<Info> wanted) {
  std::erase_if(wanted, [&](const Info& info) { return !runs_on(capability, info.name, info.capability); });
  return wanted;
}

/// Returns "B = 32, gamma = 4, V = 128,256, bf16"; workloads other than chains have their name before it.
std::string shape_text(const BenchShape& shape);

}  // namespace speclab
