#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/cli/run_and_write.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/config/shown_config.hpp"

namespace speclab {

namespace {

void require_compare(const Config& config) {
  const Experiment& experiment = *shown_part(config).experiment;
  if (&experiment == find_experiment("compare")) return;
  throw ConfigError("/experiment", "\"{}\" is not \"compare\"; `speclab run` runs other experiments",
                    experiment.name);
}

/// Sets the names that `option` gives, as if they had been written with --set.
void set_names(Values& values, const char* option, const char* path) {
  if (!values.has(option)) return;
  Words assignments = values.texts("set");
  assignments.push_back(fmt::format("{}={}", path, Json(values.texts(option)).dump()));
  std::map<std::string, po::variable_value>& all = values;
  all["set"] = {boost::any(assignments), false};
}

int compare_main(const Values& given) {
  Values values = given;
  set_names(values, "only", "compare.only_tasks");
  set_names(values, "drafter", "compare.only_drafters");
  return run_and_write(values, "compare", require_compare);
}

}  // namespace

Verb compare_verb() {
  Verb verb{
      .name = "compare",
      .sentence = "compare drafters and gamma policies on tasks of real text, in one table and chart",
      .line = "speclab compare CONFIG.json [options]",
      .about = R"(Compares drafters and gamma policies on held-out documents of real text, as the section
"compare" of the config says. For every drafter on every task it reports, with intervals, alpha by three
estimators, tokens per target step, and the speedup at every fixed gamma and under every policy. Each policy is
also compared with the best fixed gamma on the same random numbers. It writes the same files as `speclab run`. scripts/setup.sh tasks makes the texts of configs/compare_*.json.
)",
      .examples = R"(  speclab compare configs/compare_tasks.json
  speclab compare configs/compare_tasks.json --only prose --drafter bigram
  speclab compare configs/compare_tasks.json --set compare.verify=0.02 --out out/verify
)",
      .positional = "config",
      .run = compare_main};
  verb.add<Words>("only NAME", "run only this task; may be given several times");
  verb.add<Words>("drafter NAME", "run only this drafter; may be given several times");
  add_run_options(verb, "compare.verify=0.02");
  return verb;
}

}  // namespace speclab
