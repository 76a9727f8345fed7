#include <fmt/format.h>

#include "experiments/base/command/options.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/config/load_config.hpp"
#include "experiments/run/run_config.hpp"

namespace speclab {

namespace {

int validate_main(const Values& values) {
  const auto file = values.text("config");
  const auto config = load_config(file, values);
  const Workload workload = in_file(file, [&] { return measure_workload(*config); });
  fmt::print("{}: valid: {} {}, {} rounds or tokens to simulate\n", file, workload.cells,
             workload.cells == 1 ? "cell" : "cells", workload.steps);
  return exit_ok;
}

}  // namespace

Verb validate_verb() {
  Verb verb{.name = "validate",
            .sentence = "check a config without running it",
            .line = "speclab validate CONFIG.json [--set path=value]...",
            .about = "Checks the whole config, builds its models, and prints how much it would simulate.\n",
            .examples = "  speclab validate configs/first.json\n",
            .positional = "config",
            .run = validate_main};
  add_set_option(verb, "change the config");
  return verb;
}

}  // namespace speclab
