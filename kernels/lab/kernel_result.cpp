#include "kernels/lab/kernel_result.hpp"
#include "experiments/base/format/result_fields.hpp"

namespace speclab {

namespace {

constexpr std::pair<std::string_view, Dtype> dtype_names[]{
    {"bf16", Dtype::bf16}, {"f32", Dtype::f32}, {"f16", Dtype::f16}};

}  // namespace

const char* words(CacheMode mode) { return mode == CacheMode::hot ? "hot" : "flushed"; }

std::string dtype_name(Dtype dtype) {
  for (const auto& [name, known] : dtype_names) {
    if (known == dtype) return std::string(name);
  }
  return "";
}

SPECLAB_DESCRIBED(Dtype, choice<Dtype>(dtype_names));

SPECLAB_DESCRIBED(KernelWorkload, [] {
  std::vector<std::pair<std::string_view, KernelWorkload>> names;
  for (const KernelWorkloadInfo& info : kernel_workloads()) names.emplace_back(info.name, info.workload);
  return choice<KernelWorkload>(names);
}());
SPECLAB_CHOICE(CacheMode, {"hot", CacheMode::hot}, {"flushed", CacheMode::flushed});
SPECLAB_CHOICE(MethodKind, {"implementation", MethodKind::implementation}, {"ceiling", MethodKind::ceiling});
SPECLAB_CHOICE(KernelReportKind, {"measurement", KernelReportKind::measurement},
               {"dry run", KernelReportKind::dry_run});

SPECLAB_RESULT(BenchShape, "shape", requests, gamma, vocab, dtype, workload);
SPECLAB_RESULT(BenchOutcome, "outcome", accepted, rejecting, tried, refused, refusing, returned, leaves);
SPECLAB_RESULT(GpuDevice, "device", name, capability, multiprocessors, memory_bytes, l2_bytes, clock_mhz,
               memory_clock_mhz, driver, runtime);
SPECLAB_RESULT(LeftOut, "left out", size, method, why);
SPECLAB_RESULT(LaunchRow, "launch", kernel, blocks, threads, cluster, dynamic_shared, early);
SPECLAB_RESULT(MethodLayout, "method", method, left_out, launches, expected, workspace_bytes, bytes_read,
               bytes_written, problems);
SPECLAB_RESULT(KernelReportHead, "head", suite, kind, version, command);

SPECLAB_DERIVED_RESULT(KernelPoint, BenchShape, "size", alpha);

SPECLAB_DERIVED_RESULT(VerificationRow, KernelPoint, "verification", realised_alpha, accepted, cache, method,
                       kind, repetitions, median_us, p99_us, draws, fastest_draw_us, slowest_draw_us,
                       marginal_us, clock_mhz, bytes, gb_per_s, of_copy, compared, different);
SPECLAB_DERIVED_RESULT(DryPoint, KernelPoint, "point", methods);
SPECLAB_DERIVED_RESULT(KernelReport, KernelReportHead, "bench kernels", machine, device, repetitions,
                       verification, left_out, partial, failures);
SPECLAB_DERIVED_RESULT(DryRunReport, KernelReportHead, "dry run of bench kernels", points, configurations,
                       problems);

}  // namespace speclab
