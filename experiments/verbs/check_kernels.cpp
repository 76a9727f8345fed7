#include <fmt/format.h>

#include "experiments/bench/kernel_sweep.hpp"
#include "experiments/check/kernel_check.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/output.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/verbs/verb.hpp"
#include "kernels/gpu/device.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;

constexpr std::uint64_t usual_requests = 1000000;
constexpr std::uint64_t emulated_requests = 4000;

KernelCheckOptions check_options(const po::variables_map& values) {
  constexpr std::uint64_t least = 1000;
  constexpr std::uint64_t most = 1000000000;
  KernelCheckOptions options;
  options.place = values.count("emulate") > 0 ? CheckPlace::emulator : CheckPlace::gpu;
  options.implementations =
      parse_implementations("--implementation", values["implementation"].as<std::string>());
  options.dtypes = parse_dtypes(values["dtype"].as<std::string>());
  options.requests = options.place == CheckPlace::gpu ? usual_requests : emulated_requests;
  if (values.count("requests") > 0) {
    const auto requests = values["requests"].as<std::int64_t>();
    if (requests < static_cast<std::int64_t>(least) || requests > static_cast<std::int64_t>(most)) {
      throw UsageError(fmt::format("--requests {}: expected {} to {}", requests, least, most));
    }
    options.requests = static_cast<std::uint64_t>(requests);
  }
  options.level = values["level"].as<double>();
  if (!(options.level > 0 && options.level < 1)) {
    throw UsageError(fmt::format("--level {}: expected a probability between 0 and 1", options.level));
  }
  return options;
}

}  // namespace

int check_kernels_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab check kernels [options]",
      .about =
          "Tests the verification kernels. Decisions: against a reference in double precision, with the "
          "same\n"
          "random numbers; where the reference is within 1e-5 of deciding otherwise, single precision may,\n"
          "and such cases are counted. Bits: the same alone, in other batches, again. Edges: equal and\n"
          "disjoint laws, -inf, NaN, uniforms at 0 and 1, ragged lengths and more. Laws: emitted tokens\n"
          "jointly (Pearson's chi-squared, G) and each given those before it against the target's rows, one\n"
          "round's tokens and accepted lengths against its law, followed along every branch, and the share "
          "of\n"
          "first tokens that are kept against sum min(p, q). p-values are adjusted (Holm) so that the "
          "chance\n"
          "of a false alarm is the level. Implementations that are not exact have to fail the tests of "
          "laws:\n"
          "they are reported as refuted, with the total variation of their rule.\n"
          "On the GPU with 1,000,000 requests for each law; --emulate runs the same kernels in an emulator\n"
          "on the CPU with 4,000, --dry-run lists the tests.\n"
          "Exit code: 0 when exact ones pass and the others are refuted, 1 otherwise, 2 for bad input and\n"
          "without a GPU, 130 interrupted.",
      .examples =
          "  speclab check kernels\n"
          "  speclab check kernels --emulate\n"
          "  speclab check kernels --implementation fused --dtype f16 --requests 10000000\n"
          "  speclab check kernels --dry-run\n",
      .positional = ""};
  usage.options.add_options()("emulate", "in the emulator, without a GPU")("dry-run", "list the tests")(
      "implementation", po::value<std::string>()->default_value("all"), "by name, or all")(
      "requests", po::value<std::int64_t>(), "of each test of a law (default: 1000000; --emulate: 4000)")(
      "dtype", po::value<std::string>()->default_value("f32,bf16"),
      "of the logits: f32, bf16, f16; the first one for all laws")(
      "level", po::value<double>()->default_value(0.001), "chance of a false alarm")(
      "threads", po::value<int>()->default_value(0), "threads of the emulator; 0: all cores")("json",
                                                                                              "print JSON");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  KernelCheckOptions options = check_options(*values);
  options.command = fmt::format("speclab check kernels {}", fmt::join(arguments, " "));
  if (values->count("dry-run") > 0) {
    for (const std::string& line : kernel_check_list(options)) fmt::print("{}\n", line);
    return exit_ok;
  }
  if (options.place == CheckPlace::gpu && !why_no_device().empty()) {
    throw UsageError(
        fmt::format("no GPU to test: {}; --emulate runs the same tests in the emulator, --dry-run lists them",
                    why_no_device()));
  }
  if (options.place == CheckPlace::gpu) {
    options.implementations = runnable_on(current_device().value().capability, options.implementations);
  }
  const ThreadLimit limit(thread_option(*values));
  const InterruptGuard guard;
  const auto result = check_kernels(options);
  if (!result) {
    fmt::print(stderr, "interrupted: not all was tested\n");
    return exit_interrupted;
  }
  if (values->count("json") > 0) {
    fmt::print("{}\n", result->dump(1));
  } else {
    fmt::print("{}", kernel_check_text(*result));
  }
  return result->at("failures").get<std::size_t>() == 0 ? exit_ok : exit_failed_check;
}

}  // namespace speclab
