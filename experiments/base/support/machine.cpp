#include "experiments/base/support/machine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <thread>

#include "experiments/base/support/interrupt.hpp"

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

std::optional<double> available_memory() {
  std::optional<double> least;
  const auto at_most = [&](double bytes) { least = std::min(least.value_or(bytes), bytes); };
  std::ifstream info("/proc/meminfo");
  for (std::string name, unit; info >> name;) {
    double kibibytes = 0;
    if (!(info >> kibibytes)) break;
    std::getline(info, unit);
    if (name == "MemAvailable:") at_most(1024 * kibibytes);
  }
  double limit = 0;
  double taken = 0;
  std::ifstream group_limit("/sys/fs/cgroup/memory.max");  // "max" if there is no limit
  std::ifstream group_taken("/sys/fs/cgroup/memory.current");
  if (group_limit >> limit && group_taken >> taken) at_most(std::max(limit - taken, 0.0));
  // The limit of ulimit -v, less the address space already in use.
  rlimit space{};
  std::ifstream pages("/proc/self/statm");
  double mapped = 0;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && pages >> mapped) {
    const double bytes = mapped * static_cast<double>(sysconf(_SC_PAGESIZE));
    at_most(std::max(static_cast<double>(space.rlim_cur) - bytes, 0.0));
  }
  return least;
}

std::uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr std::uint64_t kibibyte = 1024;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kibibyte;
}

ThreadLimit::ThreadLimit(int threads)
    : control_(tbb::global_control::max_allowed_parallelism,
               threads > 0 ? static_cast<std::size_t>(threads)
                           : std::max<std::size_t>(std::thread::hardware_concurrency(), 1)) {
  set_interrupted_threads(thread_count());
}

int thread_count() {
  return static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

bool writes_to_terminal() { return isatty(STDOUT_FILENO) == 1; }

}  // namespace speclab
