// What the processor counts, where it may be asked.
#pragma once

#include <cstdint>
#include <optional>

namespace speclab {

/// Misses of the last cache by the thread that makes it, in user mode, by perf_event_open(2). Many containers
/// and virtual machines refuse: then there is no count, and nothing fails.
class CacheMisses {
 public:
  CacheMisses();
  ~CacheMisses();
  CacheMisses(const CacheMisses&) = delete;
  CacheMisses& operator=(const CacheMisses&) = delete;

  void start();
  /// Since `start`; empty where the processor may not be asked.
  std::optional<std::uint64_t> stop();

 private:
  int descriptor_ = -1;
};

}  // namespace speclab
