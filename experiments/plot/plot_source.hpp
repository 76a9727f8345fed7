// Reads the sources of `speclab plot`.
#pragma once

#include <optional>
#include <string>

#include "experiments/run/run_config.hpp"

namespace speclab {

/// A result or a CSV file.
struct PlotSource {
  std::string name;                 ///< for people: the folder of a result, or the name of another file
  std::string file;                 ///< for messages
  std::string folder;               ///< folder that contains it
  std::optional<RunResult> result;  ///< of result.json, with the timings of its folder
  std::string csv;                  ///< text of any other file, which Python reads
};

/// Reads result.json, a folder with one, or a CSV file whose first line names the columns. Throws UsageError
/// if it does not exist.
PlotSource read_plot_source(const std::string& file);

}  // namespace speclab
