// Quantiles of Student's distribution.
#pragma once

namespace speclab {

/// Returns the two-sided quantile: within plus or minus this lies the probability `confidence`, in (0, 1).
/// `degrees` > 0.
double student_quantile(double degrees, double confidence);

}  // namespace speclab
