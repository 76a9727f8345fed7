// Shards as a line for GNU parallel, to be printed.
#include <fmt/format.h>

#include "experiments/shards/scheduler.hpp"
#include "experiments/support/shell_word.hpp"

namespace speclab {

namespace {

/// The same line for a shell, but GNU parallel replaces nothing in it. All that it replaces begins with {,
/// such as {.} and {= a program of Perl =}. Words with a { are quoted: the quotes end and begin after it.
std::string without_replacements(std::string line) {
  for (std::size_t at = line.find('{'); at != std::string::npos; at = line.find('{', at + 1))
    line.insert(at + 1, "''");
  return line;
}

std::string print_parallel(const Submission& submission) {
  Submission quoted = submission;
  if (quoted.threads == 0) quoted.threads = 1;
  const std::string at_once = quoted.at_once > 0 ? fmt::format(" --jobs {}", quoted.at_once) : "";
  const std::string line = shard_line(quoted, "{}");
  const std::size_t own = line.rfind(" --shard ");
  const std::string command = without_replacements(line.substr(0, own)) + line.substr(own);
  // Once for the shell that reads this line, once for the one that parallel starts: /bin/sh, whatever $SHELL
  // is.
  return fmt::format("PARALLEL_SHELL=/bin/sh parallel --retries 3{} {} ::: $(seq {})\n", at_once,
                     shell_word(command), quoted.shards);
}

}  // namespace

SchedulerEntry parallel_scheduler() {
  return {"parallel", "a line for GNU parallel, to be printed", print_parallel, nullptr};
}

}  // namespace speclab
