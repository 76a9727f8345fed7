#include <algorithm>
#include <cstdint>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/run/terminal_watch.hpp"
#include "experiments/verify/check/run_rows.hpp"

namespace speclab {

namespace {

/// Returns the sizes in ascending order, each once.
std::vector<std::int32_t> run_sizes(const Values& values) {
  std::vector<std::int32_t> sizes = ranged_options<std::int32_t>(values, "run", 2, 512, {2, 4, 8});
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

int check_rows_main(const Values& values) {
  const auto file = values.text("config");
  const std::vector<std::int32_t> sizes = run_sizes(values);
  const ThreadLimit limit(thread_option(values));
  const auto config = load_config(file, values);
  const InterruptGuard guard;
  const auto report = in_file(file, [&] {
    TerminalWatch watch("check rows", values.has("json"));
    return compare_run_rows(*config, sizes, watch.control(config->simulation.trials));
  });
  if (!report) return interrupted_exit("nothing was compared");
  print(*report, described<RunRowsReport>(), values.has("json"), run_rows_text);
  return report->moved == 0 ? exit_ok : exit_failed_check;
}

}  // namespace

Verb check_rows_verb() {
  Verb verb{
      .name = "rows",
      .sentence = "measure how rows of a neural model change with the number of tokens in a run",
      .line = "speclab check rows CONFIG.json [options]",
      .about =
          R"(Measures how the rows of a neural target change with the number of tokens of its runs, which is
larger when a draft is verified. For each of the simulation's trials the target writes a text in runs of one
token. The rows of the same contexts are then computed in runs of a fixed number of tokens (a model's "batch"), and
as a server does it: the prompt in one run, then one or several tokens per run. It prints how many rows differ
in their bits, their total variation, the largest difference of a logit, and how often the likeliest token changes.
Exit code: 0; 1 if rows of runs with a fixed shape depend on the place of a token in its run, 2 for bad input,
130 interrupted.)",
      .examples =
          R"(  speclab check rows configs/neural_smollm2.json --set cases=null --set simulation.trials=32
  speclab check rows configs/neural_smollm2.json --set cases=null --set sampling.temperature=0 --run 5
)",
      .positional = "config",
      .run = check_rows_main};
  add_config_options(verb);
  verb.add<std::vector<std::int32_t>>("run",
                                      "tokens of a run; may be given several times (default 2, 4 and 8)");
  verb.add("json", "print JSON");
  return verb;
}

}  // namespace speclab
