#include <filesystem>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/results/finding_page.hpp"
#include "experiments/run/terminal_watch.hpp"
#include "experiments/run/until.hpp"
#include "experiments/verify/check/diagnosis.hpp"
#include "experiments/verify/check/equality_test.hpp"

namespace speclab {

namespace {

/// Tests a config. Returns nothing after an interrupt. Throws ConfigError if it cannot be tested (no models,
/// a sweep).
std::optional<EqualityResult> check_config(const Config& config, const std::string& samples_file,
                                           bool quiet) {
  refuse_many_cells(config, "check tests");
  refuse_until(config, "check tests as many sequences as check.samples says");
  const auto& settings = config.section<CheckSection>();
  require_power(settings);
  if (!samples_file.empty() && !std::filesystem::exists(samples_file))
    throw UsageError("--samples {}: there is no such file", samples_file);
  const Setup setup = build_setup(config);
  TerminalWatch watch("check", quiet);
  const Control control = watch.control(equality_workload(setup, settings));
  if (samples_file.empty()) return test_rule(setup, config.gamma, settings, control);
  const std::vector<Token> samples =
      read_samples(samples_file, static_cast<std::size_t>(settings.tokens), setup.target.vocab());
  if (const auto count = samples.size() / static_cast<std::size_t>(settings.tokens); count < 100)
    throw UsageError("{}: {} sequences; a test needs 100 or more", samples_file, count);
  return test_and_diagnose(setup, config.gamma, settings, samples, control);
}

int check_main(const Values& values) {
  const auto file = values.text("config");
  const ThreadLimit limit(thread_option(values));
  const auto lock = page_lock(values);
  const auto config = load_config(file, values);
  const std::string samples = values.given("samples").value_or("");
  const auto result = in_file(file, [&] { return check_config(*config, samples, values.has("json")); });
  if (!result) return interrupted_exit("nothing was tested");
  show_finding(values, finding_of(config->title, *result, equality_text, equality_headline, equality_figures,
                                  config, {samples}));
  return result->different ? exit_failed_check : exit_ok;
}

}  // namespace

Verb check_kernels_verb();

Verb check_verb() {
  Verb verb{.name = "check",
            .sentence = "test that speculative decoding, or a GPU kernel, has the target's distribution",
            .line = "speclab check CONFIG.json [options]",
            .about =
                R"(Tests that speculative decoding has the distribution of the config's target:
whole sequences of the first tokens (Pearson's chi-squared, G, and exact tails of rare ones), and
each token given those before it. With at most 100,000 possible sequences the target's distribution
is computed from its rows; otherwise it is estimated from a second sample, decoded without speculation.
p-values are adjusted (Holm) so that the chance of a false alarm is the level. The config's "check" section
sets samples, tokens, level and power.
With --samples FILE it tests the sequences of that file instead, which any sampler may have written: JSON
lines, each a list of token ids or {"tokens": [...]}, or a NumPy array of integers (.npy, .npz), one row per
sequence. If they differ, it names the rule or planted fault that explains them best.
Exit code: 0 equal, 1 different, 2 bad input, 130 interrupted.
speclab check kernels has its own options (--help).)",
            .examples =
                R"(  speclab check configs/check_token.json
  speclab check configs/check_token.json --set rule.kind=fault-resample-target
  speclab check configs/audit.json --samples emitted.jsonl
  speclab check kernels --emulate
)",
            .positional = "config",
            .run = check_main,
            .verbs = {check_kernels_verb()}};
  add_config_options(verb);
  verb.add("json", "print JSON");
  verb.add<std::string>("samples FILE", "test the sequences of this file");
  add_page_option(verb);
  return verb;
}

}  // namespace speclab
