// A pair of rows whose acceptance rates are known for every rule.
#pragma once

#include <vector>

#include "core/distribution/row.hpp"

namespace speclab {

inline const std::vector<double> golden_target{0.5, 0.3, 0.2};
inline const std::vector<double> golden_draft{0.1, 0.3, 0.6};

inline Row row(const std::vector<double>& probabilities) {
  return {probabilities.data(), static_cast<std::int32_t>(probabilities.size())};
}

}  // namespace speclab
