#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "experiments/equality_check.hpp"
#include "experiments/format/config_error.hpp"
#include "experiments/output.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/progress.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace po = boost::program_options;

int check_verb(const std::vector<std::string>& arguments) {
  if (about_kernels(arguments)) return check_kernels_verb({arguments.begin() + 1, arguments.end()});
  Usage usage{
      .line = "speclab check CONFIG.json [options]",
      .about =
          "Tests that speculative decoding of the config's target has the law of plain decoding: whole\n"
          "sequences of the first tokens (Pearson's chi-squared and G), and each token given those before\n"
          "it. With at most 100,000 possible sequences the target's law is computed from its rows; else a\n"
          "second sample, of plain decoding, stands for it. p-values are adjusted (Holm) so that the chance\n"
          "of a false alarm is the level. The config's \"check\" section sets samples, tokens, level, "
          "power.\n"
          "Exit code: 0 equal, 1 different, 2 unusable, 130 interrupted.\n"
          "GPU kernels are tested by speclab check kernels, which has options of its own (--help).",
      .examples =
          "  speclab check configs/check_token.json\n"
          "  speclab check configs/check_token.json --set verifier.kind=fault-resample-target\n"
          "  speclab check kernels --emulate\n",
      .positional = "config"};
  add_config_options(usage.options);
  usage.options.add_options()("json", "print JSON");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const auto file = (*values)["config"].as<std::string>();
  const ThreadLimit limit(thread_option(*values));
  const Json config = load_config(file, *values);
  const InterruptGuard guard;
  std::unique_ptr<Progress> progress;
  const auto control_for = [&](std::uint64_t total) {
    progress = std::make_unique<Progress>("check", total, values->count("json") > 0);
    return Control{.stop = [] { return interrupted(); },
                   .progress = [&progress](std::uint64_t steps) { progress->advance(steps); }};
  };
  const EqualityReport report = in_file(file, [&] { return check_equality(config, control_for); });
  progress.reset();
  if (report.partial) {
    fmt::print(stderr, "interrupted: nothing was tested\n");
    return exit_interrupted;
  }
  if (values->count("json") > 0) {
    fmt::print("{}\n", equality_json(report).dump(1));
  } else {
    fmt::print("{}", equality_text(report));
  }
  return report.different() ? exit_failed_check : exit_ok;
}

}  // namespace speclab
