// What the verbs run, sweep and compare have in common.
#pragma once

#include "experiments/cli/verb.hpp"
#include "experiments/config/config.hpp"

namespace speclab {

/// Runs the config, writes its folder, prints its table. `check` may refuse a config.
int run_and_write(const boost::program_options::variables_map& values, const char* verb,
                  void (*check)(const Config& config));

}  // namespace speclab
