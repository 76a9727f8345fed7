#include <fmt/format.h>

#include "experiments/cli/verb.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/run/experiment.hpp"

namespace speclab {

namespace {

void require_compare(const Config& config) {
  if (config.experiment == find_experiment("compare")) return;
  throw ConfigError("/experiment",
                    fmt::format("\"{}\" is not \"compare\"; `speclab run` runs other experiments",
                                config.experiment->name()));
}

int compare_main(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab compare CONFIG.json [options]",
      .about = R"(Compares drafters and gamma policies on held-out documents of real text, as the section
"compare" of the config says: for every drafter on every task alpha by three estimators, tokens per
target step, the speedup at every fixed gamma and under every policy, with intervals, and the paired
difference of each policy to the best fixed gamma on shared random numbers. Writes what `speclab run`
writes. scripts/setup.sh tasks makes the texts of configs/compare_*.json.
)",
      .examples = R"(  speclab compare configs/compare_tasks.json
  speclab compare configs/compare_tasks.json --set compare.verify=0.02 --out out/verify
)",
      .positional = "config"};
  add_run_options(usage.options);
  const auto values = parse(usage, arguments);
  return values ? run_and_write(*values, "compare", require_compare) : exit_ok;
}

}  // namespace

Verb compare_verb() {
  return {"compare", "drafters x gamma policies x tasks of real text, in one table and chart", compare_main};
}

}  // namespace speclab
