// Runs another program to its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace speclab {

/// The exit status and output of a program that has ended.
struct Finished {
  int status = 0;  ///< its exit code, or 128 plus the number of the signal that ended it
  std::string out;
  std::string err;
};

/// Selects whether a child process is ended when the work of this thread is to stop (core/stop.hpp).
enum class ChildProcess { runs_to_its_end, ends_with_us };

/// Runs command[0], found as a shell would find it, with `input` as its standard input and with `environment`
/// ("NAME=value") taking precedence over this program's own. No shell is involved. Returns nothing if there
/// is no such program. Throws std::runtime_error, with the step and the system's reason, if it cannot be
/// started for another reason, and Stopped if it was ended.
std::optional<Finished> run_child_process(std::vector<std::string> command, const std::string& input = "",
                                          std::vector<std::string> environment = {},
                                          ChildProcess ends = ChildProcess::runs_to_its_end);

}  // namespace speclab
