// Logits of neural models.
#pragma once

#include <span>

namespace speclab {

/// row[i] = exp(logits[i] / temperature) / their sum; temperature > 0, equal sizes. A logit that is NaN, or
/// all of them -infinity, makes the whole row NaN. Vectors of the processor's widest kind; the same bits at
/// every call on one machine.
void softmax_of_logits(std::span<const float> logits, double temperature, std::span<double> row);

}  // namespace speclab
