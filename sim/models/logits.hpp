// Turns logits of neural models into rows.
#pragma once

#include <span>
#include <vector>

#include "core/distribution/transforms.hpp"

namespace speclab {

/// Writes row[i] = exp(logits[i] / temperature) / their sum; temperature > 0, equal sizes. Exponentials have
/// the precision of f32, as logits do: within 3e-7 relative, and 0 below e^-87 of the largest. A NaN logit,
/// or logits that are all -infinity, make the whole row NaN. Uses the processor's widest vectors; gives the
/// same bits at every call on one machine.
void softmax_of_logits(std::span<const float> logits, double temperature, std::span<double> row);

/// Writes the row that `adjust` (core/distribution/transforms.hpp) makes of the softmax of logits, up to
/// rounding, in less time: it finds the argmax and the k largest among logits, takes exponentials only of
/// retained ones, and for top-p sorts only tokens near the boundary. `row` gets the logits' size.
void row_of_logits(std::span<const float> logits, const Adjustment& how, std::vector<double>& row);

}  // namespace speclab
