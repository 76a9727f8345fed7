// Values that cells set, as numbers and for people.
#pragma once

#include <optional>
#include <string>

#include "experiments/run/result.hpp"

namespace speclab {

/// The number that a cell sets at a path; none when it sets none, or something else.
std::optional<double> set_number(const CellResult& cell, const std::string& path);

/// The value that a cell sets at a path, for people; none when it sets nothing there.
std::optional<std::string> set_text(const CellResult& cell, const std::string& path);

/// "γ" for ".../gamma"; else the last name of the path.
std::string axis_label(const std::string& path);

}  // namespace speclab
