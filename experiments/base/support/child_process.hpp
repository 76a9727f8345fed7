// Another program, run to its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace speclab {

/// What a program left.
struct Finished {
  int status = 0;  ///< its exit code, or 128 plus the number of the signal that ended it
  std::string out;
  std::string err;
};

/// Whether a program goes on when the work of this thread shall end (core/stop.hpp).
enum class ChildProcess { runs_to_its_end, ends_with_us };

/// Runs command[0], found as a shell would find it, with `input` as its standard input and `environment`
/// ("NAME=value") before this program's own. No shell is involved. Empty when there is no such program;
/// std::runtime_error, saying the step and the system's reason, when it cannot be started otherwise; Stopped
/// for one that was ended.
std::optional<Finished> run_child_process(std::vector<std::string> command, const std::string& input = "",
                                          std::vector<std::string> environment = {},
                                          ChildProcess ends = ChildProcess::runs_to_its_end);

}  // namespace speclab
