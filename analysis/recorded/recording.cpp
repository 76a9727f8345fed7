#include "analysis/recorded/recording.hpp"

#include <cassert>
#include <cmath>

namespace speclab {

std::vector<double> keep_probabilities(const Recording& recording, std::size_t depth) {
  assert(depth < recording.draft.size() || !recording.by_depth());
  const std::vector<double>& draft = recording.draft[recording.by_depth() ? depth : 0];
  std::vector<double> keep(recording.size());
  for (std::size_t i = 0; i < keep.size(); ++i) {
    const double log_ratio = draft[i] - recording.target[i];
    keep[i] = log_ratio >= 0 ? 1.0 : std::exp(log_ratio);
  }
  return keep;
}

}  // namespace speclab
