// How a long run is watched and stopped, without knowing by whom.
#pragma once

#include <cstdint>
#include <functional>

namespace speclab {

struct Control {
  /// Asked now and then from worker threads; true ends the run early with what it has.
  std::function<bool()> stop = [] { return false; };
  /// Told how much more is done, in units of the run (rounds or tokens), from worker threads.
  std::function<void(std::uint64_t)> progress = [](std::uint64_t) {};
};

}  // namespace speclab
