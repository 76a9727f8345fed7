// `speclab bench sim`: measures how fast the simulator decodes.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/bench/sim_result.hpp"
#include "experiments/bench/workloads.hpp"

namespace speclab {

struct SimSuiteOptions {
  SuiteSize size = SuiteSize::full();
  bool brief = false;   ///< recorded; `size` explains it
  int repetitions = 7;  ///< at least 1
  std::string only;     ///< part of a row's name, ignoring case and spaces; empty: all rows
  int threads = 2;      ///< threads of the row that is compared with one thread; 1: no such row
  std::string command;  ///< recorded
  bool silent = false;  ///< prints no progress
};

/// Runs the measurements of `speclab bench sim`. Throws UsageError if no row has a name that contains `only`,
/// and Stopped if the work shall end (core/stop.hpp): an incomplete comparison is of no use.
SimReport run_sim_suite(const SimSuiteOptions& options);

}  // namespace speclab
