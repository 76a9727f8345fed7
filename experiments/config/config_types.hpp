// Declares the JSON form of configs, for code that need not know the members of a Config.
#pragma once

#include <memory>
#include <string>

#include "experiments/base/format/type.hpp"

namespace speclab {

struct Config;

/// Returns the description of the whole format. Kinds, experiments and sections must be registered before its
/// first use.
const Typed<Config>& config_type();
/// Describes a config that results share.
template <>
const Typed<std::shared_ptr<const Config>>& described();

/// Returns the config as JSON with every default.
Json config_json(const Config& config);

/// Returns the type at a JSON pointer into the config, as used by "cases" and "sweep"; null if there is none.
const Type* type_at(const std::string& pointer);

}  // namespace speclab
