// The acceptance of k-SEQ.
#pragma once

#include <cstddef>

#include "core/rules/k_seq.hpp"

namespace speclab {

/// Returns P(one of `drafts` is accepted) = 1 - (1 - beta(rho*))^drafts.
template <class Real>
Real k_seq_acceptance(BasicRow<Real> target, BasicRow<Real> draft, std::size_t drafts) {
  const Real beta = lenient_overlap(target, draft, KSeqRule::scale(target, draft, drafts));
  return Real(1) - power_of(Real(Real(1) - beta), drafts);
}

}  // namespace speclab
