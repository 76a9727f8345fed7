// Tables and figures of a calibration, from result.json alone.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

/// p-values under the null, and the power for each fault. `label` names the cell; `confidence` is that of
/// every interval.
std::vector<Table> calibration_tables(const Json& calibration, const std::string& label,
                                      const std::string& id, double confidence);

/// The distribution of the p-values, its distance from the diagonal, and the power curves. Ids and commands
/// are the caller's to set.
std::vector<Figure> calibration_figures(const Json& calibration, const std::string& label);

}  // namespace speclab
