// Describes the machine, and limits the program's share of it.
#pragma once

#include <tbb/global_control.h>

#include <cstdint>
#include <optional>
#include <string>

namespace speclab {

/// Returns processor, cores and system, in words.
std::string machine_description();

/// Returns the bytes that this program can still allocate: the system's available memory, or less if a
/// control group or ulimit -v limits it. Empty if unknown.
std::optional<double> available_memory();

/// Returns the peak memory of this process so far, in bytes.
std::uint64_t peak_memory();

/// Limits the number of working threads during its lifetime; 0: as many as there are cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);

 private:
  tbb::global_control control_;
};

/// Returns the number of worker threads in use.
int thread_count();

bool writes_to_terminal();

}  // namespace speclab
