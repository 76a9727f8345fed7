// Lets a caller watch and stop a long run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace speclab {

struct Control {
  /// Worker threads poll this. If it returns true, the run ends early and returns its results so far.
  std::function<bool()> stop = [] { return false; };
  /// Worker threads call this with the number of units (rounds or tokens) done since the last call.
  std::function<void(std::uint64_t)> progress = [](std::uint64_t) {};

  /// Returns whether the run ends early. `stopped` tells all of its threads what one of them learned.
  bool ends(std::atomic<bool>& stopped) const {
    if (!stopped && stop()) stopped = true;
    return stopped;
  }
};

}  // namespace speclab
