// Sampling options as values (Leviathan et al. 2023, section 2.2). transforms.hpp applies them to rows.
#pragma once

#include <cstdint>

namespace speclab {

/// Options in the order in which they apply: temperature, then top-k, then top-p; the row is then normalised.
/// Ties go to the lower id.
struct Adjustment {
  double temperature = 1;  ///< probability^(1/T); 0 means argmax
  std::int32_t top_k = 0;  ///< keep the k largest; 0 keeps all
  double top_p = 1;        ///< keep the smallest set of largest probabilities that reaches top_p

  bool identity() const { return temperature == 1 && top_k == 0 && top_p == 1; }
};

}  // namespace speclab
