// From logits of neural models to rows.
#pragma once

#include <span>
#include <vector>

#include "core/distribution/transforms.hpp"

namespace speclab {

/// row[i] = exp(logits[i] / temperature) / their sum; temperature > 0, equal sizes. Exponentials are those of
/// f32, which logits are: within 3e-7 of themselves, and 0 below e^-87 of the largest. A logit that is NaN,
/// or all of them -infinity, makes the whole row NaN. Vectors of the processor's widest kind; the same bits
/// at every call on one machine.
void softmax_of_logits(std::span<const float> logits, double temperature, std::span<double> row);

/// What `adjust` (core/distribution/transforms.hpp) makes of the softmax of logits, to rounding, and in less
/// time: the argmax and the k largest are found among logits, and only what is kept has exponentials; top-p
/// puts in order only what is near what it keeps. `row` gets the logits' size.
void row_of_logits(std::span<const float> logits, const Adjustment& how, std::vector<double>& row);

}  // namespace speclab
