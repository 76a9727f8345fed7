// Measures how far apart two rows are (Leviathan et al. 2023, section 3.2). For probability rows, D_LK = 1 -
// overlap = total variation, and overlap is the acceptance probability of one drafted token.
#pragma once

#include "core/distribution/row.hpp"

namespace speclab {

/// Returns the sum of min(target, draft): the probability that Algorithm 1 accepts a token drafted from
/// `draft` (Thm 3.5).
template <class Real>
SPECLAB_HD Real overlap(BasicRow<Real> target, BasicRow<Real> draft) {
  return sum_terms<Real>(0, target.size, [&](std::int32_t i) {
    const Real& a = target[i];
    const Real& b = draft[i];
    return b < a ? b : a;
  });
}

/// Returns the sum of min(target / lenience, draft): the acceptance probability under lenience in (0, 1]
/// (A.5).
template <class Real>
SPECLAB_HD Real lenient_overlap(BasicRow<Real> target, BasicRow<Real> draft, Real lenience) {
  return sum_terms<Real>(0, target.size, [&](std::int32_t i) {
    const Real a = target[i] / lenience;
    const Real& b = draft[i];
    return b < a ? b : a;
  });
}

/// Returns the total variation: half the L1 distance.
template <class Real>
SPECLAB_HD Real total_variation(BasicRow<Real> a, BasicRow<Real> b) {
  const Real distance = sum_terms<Real>(0, a.size, [&](std::int32_t i) {
    const Real difference = a[i] - b[i];
    return difference < Real(0) ? Real(-difference) : difference;
  });
  return distance / Real(2);
}

}  // namespace speclab
