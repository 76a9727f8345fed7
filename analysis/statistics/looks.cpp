#include "analysis/statistics/looks.hpp"

#include <cassert>

namespace speclab {

int looks_at_doublings(std::uint64_t first, std::uint64_t most) {
  int looks = 1;
  for (std::uint64_t size = first; size <= most / 2; size *= 2) ++looks;
  return looks;
}

double look_confidence(double confidence, int looks) {
  assert(confidence > 0 && confidence < 1 && looks >= 1);
  return 1 - (1 - confidence) / looks;
}

}  // namespace speclab
