#include "experiments/support/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <thread>

namespace speclab {

std::string machine_description() {
  std::string processor = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    processor = line.substr(line.find(": ") + 2);
    break;
  }
  utsname system{};
  uname(&system);
  return fmt::format("{}, {} cores, {} {}", processor, std::thread::hardware_concurrency(), system.sysname,
                     system.machine);
}

ThreadLimit::ThreadLimit(int threads)
    : control_(tbb::global_control::max_allowed_parallelism,
               threads > 0 ? static_cast<std::size_t>(threads)
                           : std::max<std::size_t>(std::thread::hardware_concurrency(), 1)) {}

int thread_count() {
  return static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

bool writes_to_terminal() { return isatty(STDOUT_FILENO) == 1; }

}  // namespace speclab
