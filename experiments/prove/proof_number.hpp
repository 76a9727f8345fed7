// Numbers of proofs in JSON.
#pragma once

#include "experiments/prove/proof.hpp"

namespace speclab {

/// A number, or a fraction as text.
const Typed<ProofNumber>& proof_number_type();

}  // namespace speclab
