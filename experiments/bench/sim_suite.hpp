// `speclab bench sim`: how fast the simulator is, beside what the machine allows.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/bench/sim_result.hpp"
#include "experiments/bench/workloads.hpp"

namespace speclab {

struct SimSuiteOptions {
  SuiteSize size = SuiteSize::full();
  bool brief = false;   ///< recorded; `size` says what it means
  int repetitions = 7;  ///< 1 or more
  std::string only;     ///< part of a row's name, without regard to case and spaces; empty: all rows
  int threads = 2;      ///< of the row that is compared with one thread; 1: no such row
  std::string command;  ///< recorded
  bool silent = false;  ///< no progress
};

/// Throws UsageError when `only` names no row, and Stopped when it shall end (core/stop.hpp): half a
/// comparison is none.
SimReport run_sim_suite(const SimSuiteOptions& options);

}  // namespace speclab
