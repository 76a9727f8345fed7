// `speclab bench sim`: measures how fast the simulator decodes.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/bench/sim_result.hpp"
#include "experiments/bench/workloads.hpp"

namespace speclab {

struct SimSuiteOptions {
  SuiteSize size = SuiteSize::full();
  bool brief = false;   ///< --quick was given; reported only
  int repetitions = 7;  ///< at least 1
  std::string only;     ///< part of a row's name, ignoring case and spaces; empty: all rows
  int threads = 2;      ///< threads of the row that is compared with one thread; 1: no such row
  std::string command;  ///< the command line; reported only
  bool silent = false;  ///< prints no progress
};

/// Runs `speclab bench sim`. Throws UsageError if no row's name contains `only`, and Stopped (core/stop.hpp),
/// since an incomplete comparison is of no use.
SimReport run_sim_suite(const SimSuiteOptions& options);

}  // namespace speclab
