#include "experiments/format/config_error.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

int compare_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab compare CONFIG.json [options]",
      .about =
          "Sets drafters and gamma policies against one another on held-out documents of real text, as the\n"
          "section \"compare\" of the config says: for every drafter on every task alpha by three "
          "estimators,\n"
          "tokens per target run, speed at every fixed gamma and under every policy, with intervals, and "
          "the\n"
          "paired difference of each policy to the best fixed gamma on shared random numbers. Writes what\n"
          "`speclab run` writes. scripts/setup.sh tasks makes the texts of configs/compare_*.json.",
      .examples =
          "  speclab compare configs/compare_tasks.json\n"
          "  speclab compare configs/compare_tasks.json --set compare.verify=0.02 --out out/verify\n",
      .positional = "config"};
  add_run_options(usage.options);
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  return run_and_write(*values, "compare", [](const Json& resolved) {
    if (resolved.at("experiment") == "compare") return;
    throw ConfigError("/experiment", shown(resolved.at("experiment")) +
                                         " is not \"compare\"; `speclab run` runs other experiments");
  });
}

}  // namespace speclab
