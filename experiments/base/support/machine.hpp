// The machine that the program runs on, and how much of it is used.
#pragma once

#include <tbb/global_control.h>

#include <cstdint>
#include <optional>
#include <string>

namespace speclab {

/// Processor, cores and system, in words.
std::string machine_description();

/// Bytes that this program can still take: what the system has available, or less where its group or the
/// process itself (ulimit -v) is limited. None where nothing is told.
std::optional<double> available_memory();

/// The most bytes that this process has held so far.
std::uint64_t peak_memory();

/// While it lives, at most `threads` threads work; 0: as many as there are cores.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);

 private:
  tbb::global_control control_;
};

/// Worker threads in use.
int thread_count();

/// Is standard output a terminal?
bool writes_to_terminal();

}  // namespace speclab
