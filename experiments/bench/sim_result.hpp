// Results of `speclab bench sim` as plain structs, from which its JSON, tables and figure are made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/page.hpp"

namespace speclab {

struct WorkloadRow {
  std::string name;
  int threads = 1;
  std::string clock;  ///< clock of `seconds`: "processor", or "wall" with several threads
  std::vector<double> seconds;
  std::vector<double> wall_seconds;
  double spread = 0;  ///< interquartile range divided by the median
  std::uint64_t tokens = 0;
  std::uint64_t rounds = 0;
  double tokens_per_second = 0;
  double rounds_per_second = 0;
  double ns_per_token = 0;
};

struct RatioRow {
  std::string name;
  double ratio = 0;
};

struct SimReport {
  std::string version;
  std::string machine;
  std::string command;
  bool quick = false;  ///< --quick: sizes are too small to mean much
  std::int32_t gamma = 0;
  int repetitions = 0;
  std::size_t text_bytes = 0;
  std::vector<WorkloadRow> workloads;
  std::vector<RatioRow> comparisons;
};

template <>
const Typed<SimReport>& described();

/// Returns the tables for a terminal.
Page sim_text(const SimReport& report);

}  // namespace speclab
