#include "experiments/base/command/options.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "kernels/gpu/device.hpp"
#include "kernels/lab/kernel_check.hpp"
#include "kernels/lab/kernel_sweep.hpp"

namespace speclab {

namespace {

constexpr std::uint64_t usual_requests = 1000000;
constexpr std::uint64_t emulated_requests = 4000;

KernelCheckOptions check_options(const Values& values) {
  constexpr std::int64_t least = 1000;
  constexpr std::int64_t most = 1000000000;
  KernelCheckOptions options;
  options.place = values.has("emulate") ? CheckPlace::emulator : CheckPlace::gpu;
  options.implementations = parse_named("--implementation", values.text("implementation"), implementations());
  options.dtypes = parse_dtypes(values.text("dtype"));
  options.requests = options.place == CheckPlace::gpu ? usual_requests : emulated_requests;
  if (values.has("requests"))
    options.requests = static_cast<std::uint64_t>(ranged_option(values, "requests", least, most));
  options.level = values["level"].as<double>();
  if (!(options.level > 0 && options.level < 1))
    throw UsageError("--level {}: expected a probability between 0 and 1", options.level);
  return options;
}

int check_kernels_main(const Values& values) {
  KernelCheckOptions options = check_options(values);
  options.command = values.command;
  if (options.place == CheckPlace::gpu && !why_no_device().empty())
    throw UsageError("no GPU to test: {}; --emulate runs the same tests in the emulator", why_no_device());
  if (options.place == CheckPlace::gpu)
    options.implementations = runnable_on(current_device().value().capability, options.implementations);
  const ThreadLimit limit(thread_option(values));
  const KernelCheckReport report = check_kernels(options);
  print(report, described<KernelCheckReport>(), values.has("json"), kernel_check_text);
  return report.failures == 0 ? exit_ok : exit_failed_check;
}

}  // namespace

Verb check_kernels_verb() {
  Verb verb{.name = "kernels",
            .sentence = "test the verification kernels, on a GPU or in the emulator",
            .line = "speclab check kernels [options]",
            .about =
                R"(Tests whether the verification kernels are right, in four ways.

Decisions equal those of a reference in double precision that gets the same random numbers. If the
reference is within 1e-5 of the other decision, single precision may decide otherwise; such cases
are counted. Bits are the same for a request alone, in other batches, and when repeated. Edge cases
have the results that must follow: equal and disjoint distributions, -inf, NaN, uniforms of 0 and 1,
ragged lengths and more. Distributions are tested: emitted tokens jointly (Pearson's chi-squared, G)
and each given those before it, against the target's rows; one round's tokens and accepted lengths,
against the distribution of the round (all branches); the share of first tokens accepted, against
sum min(p, q). Holm's method adjusts the p-values, so that --level is the chance of any false alarm.

An implementation that is not exact must fail the tests of distributions. It is reported as refuted,
with the total variation between its rule's output and the target.

Exit code: 0 if exact implementations pass and the others are refuted, 1 otherwise, 2 for bad input
or without a GPU, 130 after an interrupt.)",
            .examples = R"(  speclab check kernels
  speclab check kernels --emulate
  speclab check kernels --implementation fused --dtype f16 --requests 10000000
)",
            .run = check_kernels_main};
  verb.section("Where");
  verb.add("emulate", "run the kernels in an emulator on the CPU, without a GPU");
  verb.add<int>("threads", 0, "threads of the emulator; 0: all cores");
  verb.section("Tests");
  verb.add<std::string>("implementation NAME", "all", "implementation to test, or all");
  verb.add<std::string>("dtype NAME,...", "f32,bf16",
                        "types of the logits: f32, bf16, f16; distributions are tested with the first");
  verb.add<std::int64_t>("requests",
                         "requests in each test of a distribution (default: 1000000; --emulate: 4000)");
  verb.add<double>("level", 0.001, "probability of any false alarm about exact implementations");
  verb.section("Output");
  verb.add("json", "print JSON");
  return verb;
}

}  // namespace speclab
