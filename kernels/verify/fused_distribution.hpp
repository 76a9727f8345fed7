// Computes the distribution of a token that fused verification emits, with every rounding of its single
// precision, and so what "exact" means in practice. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// Returns P(token at `position` = id) for each id, given that every token before it was accepted: drafted
/// tokens come from the draft's distribution in double, and acceptance draws and replacements have the
/// probabilities that the kernel's own numbers give them. Uniforms count as exact. The batch is in host
/// memory, the rule is token or lenient, and position < gamma. NaN if a row is invalid. The drafted ids do
/// not matter, except for certain drafts.
std::vector<double> fused_token_distribution(const VerifyBatch& batch, std::int64_t request,
                                             std::int32_t position);

}  // namespace speclab
