#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <type_traits>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/out_folder.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/named_entry.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "kernels/gpu/device.hpp"
#include "kernels/lab/kernel_dry_run.hpp"
#include "kernels/lab/kernel_report.hpp"
#include "kernels/lab/kernel_suite.hpp"

namespace speclab {

namespace {

constexpr int usual_repetitions = 200;
constexpr int quick_repetitions = 20;
constexpr std::size_t printed_rows = 60;

std::string workload_names() {
  std::vector<std::string> names;
  for (const KernelWorkloadInfo& info : kernel_workloads())
    names.push_back(fmt::format("{} ({})", info.name, info.sentence));
  return fmt::format("{}", fmt::join(names, ", "));
}

KernelSweep sweep_option(const Values& values) {
  KernelSweep sweep;
  sweep.workloads = parse_workloads("--workload", values.text("workload"));
  if (values.has("sizes") && values.has("quick")) throw UsageError("--sizes and --quick: choose one");
  if (values.has("quick")) {
    sweep.kind = SweepKind::fast;
    if (values["dtype"].defaulted()) sweep.dtypes = {Dtype::bf16};
    if (values["alpha"].defaulted()) sweep.alphas = {0.7};
  }
  if (values.has("sizes")) {
    sweep.kind = SweepKind::given;
    sweep.sizes = parse_sizes(values.text("sizes"));
  }
  if (!values["dtype"].defaulted()) sweep.dtypes = parse_dtypes(values.text("dtype"));
  if (!values["alpha"].defaulted()) sweep.alphas = parse_alphas(values.text("alpha"));
  return sweep;
}

std::vector<CacheMode> cache_option(const Values& values) {
  std::vector<CacheMode> caches;
  for (const std::size_t place : parse_names("--cache", values.text("cache"), {"hot", "flushed"}, false))
    caches.push_back(place == 0 ? CacheMode::hot : CacheMode::flushed);
  return caches;
}

int repetitions_option(const Values& values) {
  constexpr int most = 100000;
  if (values.has("repetitions")) return ranged_option(values, "repetitions", 1, most);
  return values.has("quick") ? quick_repetitions : usual_repetitions;
}

template <class Report>
void show(const Report& report, const Values& values) {
  const std::string json = json_text_of(report);
  if (values.has("out")) {
    const std::filesystem::path out = values.text("out");
    write_file_atomically(out / "result.json", json + "\n");
    if constexpr (std::is_same_v<Report, KernelReport>)
      write_file_atomically(out / "results.csv", kernel_csv(report));
  }
  if (values.has("json")) {
    fmt::print("{}\n", json);
    return;
  }
  const KernelText text = kernel_text(report, printed_rows);
  for (const auto& [name, fact] : text.facts) fmt::print("{}: {}\n", name, fact);
  for (const Table& table : text.tables) fmt::print("\n{}", terminal(table));
  fmt::print("\n");
  for (const std::string& note : text.notes) fmt::print("- {}\n", note);
}

int bench_kernels_main(const Values& values) {
  if (values.has("out")) refuse_unwritable(values.text("out"));
  const KernelSweep sweep = sweep_option(values);
  const auto chosen = parse_named("--baselines", values.text("baselines"), bench_methods());
  for (const KernelWorkload workload : sweep.workloads) {
    if (methods_for(workload, chosen).empty()) {
      throw UsageError("--baselines \"{}\": none of them is for --workload {}", values.text("baselines"),
                       info_of(workload).name);
    }
  }
  const std::vector<CacheMode> caches = cache_option(values);
  const int repetitions = repetitions_option(values);
  if (values.has("dry-run")) {
    const DryRunReport report = kernel_dry_run({sweep, chosen, values.command});
    show(report, values);
    return report.problems == 0 ? exit_ok : exit_failed_check;
  }
  if (const std::string why = why_no_device(); !why.empty())
    throw UsageError("no GPU to measure on: {}; --dry-run checks launches and counts bytes without one", why);
  const auto runnable = runnable_on(current_device().value().capability, chosen);
  const KernelReport report = run_kernel_suite({sweep, runnable, caches, repetitions, values.command});
  show(report, values);
  if (report.partial) return exit_interrupted;
  return report.failures > 0 ? exit_failed_check : exit_ok;
}

}  // namespace

Verb bench_kernels_verb() {
  Verb verb{
      .name = "kernels",
      .sentence = "measure the verification kernels on this machine's GPU",
      .line = "speclab bench kernels [options]",
      .about =
          R"(Measures the verification kernels on this machine's GPU. For comparison it also measures one and two
empty launches, two copies and a read of the logits' bytes, and accepting everything without
verification. All methods run in random order in one run.

Each row has the median and the 99th percentile of the time, the bytes that the method must move,
their rate and its share of the copy's rate. Logits are made on the device, with a mean overlap of
target and draft of alpha.

By default the sizes lie on three axes through B = 32, gamma = 4, V = 128,256: requests (1 to 256),
gamma (1 to 16), and vocabulary: 32,000 (Llama 2, Mistral 7B), 128,256 (Llama 3), 151,936 (Qwen 2.5),
256,000 (Gemma). The corners {1, 256} x {1, 16} x {32,000, 256,000} are added. These use the first
--dtype and alpha 0.7 (or the first alpha); other dtypes run along requests, other alphas at the
centre. --sizes and --quick run every combination of size, dtype and alpha instead. Sizes that do not
fit into the device's memory are listed as left out.

A tree has gamma nodes (26 and 60 on that axis); all requests share one tree of the likeliest nodes.
Rows of cut-offs and trees are as peaked as in text, rows of chains are flat.

--out writes result.json and, after a measurement, results.csv.
Exit code: 0; 1 if CUDA fails at some size, or a dry run finds something invalid; 2 for bad input or
without a GPU; 130 after an interrupt.)",
      .examples = R"(  speclab bench kernels --out kernels/results/my-gpu
  speclab bench kernels --sizes "1,4,128256;64,4,128256" --dtype bf16 --cache flushed
  speclab bench kernels --baselines fused --repetitions 50 --json
  speclab bench kernels --workload trees,chosen-trees --sizes "32,26,128256" --dtype bf16 --alpha .7
  speclab bench kernels --dry-run
)",
      .run = bench_kernels_main};
  verb.section("Sizes");
  verb.add<std::string>("sizes B,G,V", "requests, gamma and vocabulary; ';' separates several sizes");
  verb.add("quick", "use two sizes and few repetitions: a trial run, not a measurement");
  verb.add<std::string>("workload NAME,...", "chains",
                        fmt::format("kinds of requests, or all: {}", workload_names()).c_str());
  verb.add<std::string>("dtype NAME,...", "bf16,f32", "types of the logits: bf16, f32, f16");
  verb.add<std::string>("alpha NUMBER,...", ".3,.7,.9", "mean overlap of target and draft, 0.05 to 0.99");
  verb.section("Measurement");
  verb.add<std::string>(
      "baselines NAME,...", "all",
      fmt::format("methods to measure, or all: {}", fmt::join(entry_names(bench_methods()), ", ")).c_str());
  verb.add<std::string>("cache NAME,...", "hot,flushed", "second-level cache: hot, flushed, or both");
  verb.add<int>("repetitions", "how often each method is measured (default: 200; --quick: 20)");
  verb.section("Dry run");
  verb.add("dry-run", "without a GPU: check the launches of every size, and count bytes");
  verb.section("Output");
  verb.add<std::string>("out FOLDER", "folder for the files (default: none are written)");
  verb.add("json", "print JSON instead of tables");
  return verb;
}

}  // namespace speclab
