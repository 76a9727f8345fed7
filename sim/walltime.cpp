#include "sim/walltime.hpp"

namespace speclab {

// Out of line, so that no caller can see that two runs compute the same sum.
void BusyWork::run() {
  sum_ += sum_terms<float>(0, static_cast<std::int32_t>(weights_.size()), [this](std::int32_t i) {
    const float weight = weights_[static_cast<std::size_t>(i)];
    return weight * weight;
  });
}

}  // namespace speclab
