// Acceptance by every definition in use, under the names that servers and papers give them.
#pragma once

#include <string>

#include "analysis/statistics/acceptance_metrics.hpp"
#include "experiments/page/table.hpp"

namespace speclab {

/// `of_what` is told in the caption: "of the log".
Table metrics_table(const AcceptanceMetrics& metrics, const std::string& of_what);

}  // namespace speclab
