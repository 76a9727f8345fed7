#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/cli/run_and_write.hpp"

namespace speclab {

Verb run_verb() {
  Verb verb{
      .name = "run",
      .sentence = "run one experiment from a config file",
      .line = "speclab run CONFIG.json [options]",
      .about = R"(Runs the experiment that the config describes, with its cases and its sweep, and writes
result.json, results.csv, timings.json and report.html. result.json depends on the config and the seed
alone. After Ctrl-C the results so far are written and marked partial (exit code 130); the same command
continues from them. --backend cuda uses a GPU for independent acceptances (iid), and for decode and
optimal_gamma over stored rows, with the same bytes of result.json.
)",
      .examples = R"(  speclab run configs/first.json
  speclab run configs/first.json --set gamma=3 --set models.draft.alpha=0.9 --out out/g3
  speclab run configs/first.json --set simulation.trials=100000 --backend cuda --out out/gpu
)",
      .positional = "config",
      .run = [](const Values& values) { return run_and_write(values, "run", [](const Config&) {}); }};
  add_run_options(verb);
  add_backend_option(verb);
  return verb;
}

}  // namespace speclab
