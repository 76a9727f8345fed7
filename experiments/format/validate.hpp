// Checks a config against the format and fills in defaults.
#pragma once

#include <string>

#include "experiments/format/shape.hpp"

namespace speclab {

/// The config with every default written out, keys in the format's order. Throws ConfigError for unknown
/// keys, wrong types, values out of range and missing keys, with the JSON path.
Json resolve(const Json& input);

/// One object told apart by its "kind", such as a verifier given on the command line, checked and with its
/// defaults; errors name `path`.
Json resolve_kind(const Json& value, const Family& family, const std::string& path);

/// One optional section ("check", "search", "trace", "walltime", "beam", "calibration", "schedules") of a
/// resolved config, or its defaults.
Json section(const Json& config, const std::string& name);

/// For verbs that look at one configuration: throws ConfigError for a config that stands for many. `what`
/// says who does what: "check tests".
void refuse_many_cells(const Json& config, const std::string& what);

/// A value as it stands in an error message, shortened.
std::string shown(const Json& value);

}  // namespace speclab
