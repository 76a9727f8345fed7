#include <fmt/format.h>

#include "experiments/format/config_error.hpp"
#include "experiments/laboratory.hpp"
#include "experiments/verbs/verb.hpp"

namespace speclab {

namespace po = boost::program_options;

int validate_verb(const std::vector<std::string>& arguments) {
  Usage usage{.line = "speclab validate CONFIG.json [--set path=value]...",
              .about = "Checks a config whole, builds its models, and says how much it would run.",
              .examples = "  speclab validate configs/first.json\n",
              .positional = "config"};
  usage.options.add_options()("set", po::value<std::vector<std::string>>()->composing(),
                              "path=value: change the config");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const auto file = (*values)["config"].as<std::string>();
  const Json config = load_config(file, *values);
  const Workload workload = in_file(file, [&] { return measure_workload(config); });
  fmt::print("{}: valid: {} {}, {} rounds or tokens to simulate\n", file, workload.cells,
             workload.cells == 1 ? "cell" : "cells", workload.steps);
  return exit_ok;
}

}  // namespace speclab
