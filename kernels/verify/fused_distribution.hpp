// The distribution of a token that fused verification emits, with every rounding of its single precision:
// what "exact" amounts to. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/verify/verify_batch.hpp"

namespace speclab {

/// P(token at `position` = id), for each id, given that everything before it was accepted: drafts come from
/// the draft's distribution in double, acceptance draws and replacements have the probabilities that the
/// kernel's own numbers give them. Uniforms count as exact. Batch in host memory, token or lenient
/// verification, position < gamma. NaN when a row is invalid. The drafted ids do not matter, save for certain
/// drafts.
std::vector<double> fused_token_distribution(const VerifyBatch& batch, std::int64_t request,
                                             std::int32_t position);

}  // namespace speclab
