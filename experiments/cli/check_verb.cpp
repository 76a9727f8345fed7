#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "experiments/check/equality_test.hpp"
#include "experiments/cli/verb.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/machine.hpp"
#include "experiments/support/progress.hpp"

namespace speclab {

namespace {

Usage usage() {
  return {
      .line = "speclab check CONFIG.json [options]",
      .about =
          R"(Tests that speculative decoding of the config's target has the distribution of plain decoding:
whole sequences of the first tokens (Pearson's chi-squared and G), and each token given those
before it. With at most 100,000 possible sequences the target's distribution is computed from its
rows; else a second sample, of plain decoding, stands for it. p-values are adjusted (Holm) so that
the chance of a false alarm is the level. The config's "check" section sets samples, tokens, level
and power.
Exit code: 0 equal, 1 different, 2 unusable, 130 interrupted.
GPU kernels are tested by speclab check kernels, which has options of its own (--help).)",
      .examples =
          R"(  speclab check configs/check_token.json
  speclab check configs/check_token.json --set rule.kind=fault-resample-target
  speclab check kernels --emulate
)",
      .positional = "config"};
}

/// None when it was interrupted. Throws ConfigError when the config cannot be tested (no models, a sweep).
std::optional<EqualityResult> check_config(const Config& config, bool quiet) {
  refuse_many_cells(config, "check tests");
  const auto& settings = config.section<CheckSection>("check");
  ModelFactory factory;
  const Setup setup = build_setup(config, factory);
  Progress progress("check", equality_workload(setup, settings), quiet);
  const Control control{.stop = [] { return interrupted(); },
                        .progress = [&](std::uint64_t steps) { progress.advance(steps); }};
  return test_equality(setup, config.gamma, settings, control);
}

int run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "kernels") {
    return check_kernels_verb({arguments.begin() + 1, arguments.end()});
  }
  Usage how = usage();
  add_config_options(how.options);
  how.options.add_options()("json", "print JSON");
  const auto values = parse(how, arguments);
  if (!values) return exit_ok;
  const auto file = (*values)["config"].as<std::string>();
  const bool as_json = values->count("json") > 0;
  const ThreadLimit limit(thread_option(*values));
  const Config config = load_config(file, *values);
  const InterruptGuard guard;
  const auto result = in_file(file, [&] { return check_config(config, as_json); });
  if (!result) {
    fmt::print(stderr, "interrupted: nothing was tested\n");
    return exit_interrupted;
  }
  print(*result, equality_result_type(), as_json, equality_text);
  return result->different ? exit_failed_check : exit_ok;
}

}  // namespace

Verb check_verb() {
  return {"check", "test that speculative decoding, or a GPU kernel, has the target's distribution", run};
}

}  // namespace speclab
