// The verification rules that kernels are tested with.
#pragma once

#include <string>
#include <vector>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// Token, lenient (0.6) and block verification.
std::vector<VerifyRule> checked_rules();

std::string rule_name(const VerifyRule& rule);

}  // namespace speclab
