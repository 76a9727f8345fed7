// What `speclab plot` draws from.
#pragma once

#include <optional>
#include <string>

#include "experiments/run/run_config.hpp"

namespace speclab {

/// A result or a CSV file.
struct PlotSource {
  std::string name;                 ///< for people: the folder of a result, the name of another file
  std::string file;                 ///< for messages
  std::string folder;               ///< where it lies
  std::optional<RunResult> result;  ///< of result.json, with the timings beside it
  std::string csv;                  ///< of any other file: its text, which Python reads
};

/// result.json, a folder that holds one, or a CSV file whose first line names the columns. Throws UsageError
/// for what is not there.
PlotSource read_plot_source(const std::string& file);

}  // namespace speclab
