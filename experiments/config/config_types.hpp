// Declares the JSON form of configs for code that does not know the members of Config.
#pragma once

#include <memory>
#include <string>

#include "experiments/base/format/type.hpp"

namespace speclab {

struct Config;

/// Describes the whole format. Kinds, experiments and sections must be registered before the first call.
const Typed<Config>& config_type();
/// Describes a config that results share.
template <>
const Typed<std::shared_ptr<const Config>>& described();

/// Returns the config as JSON with every default.
Json config_json(const Config& config);

/// Returns the type at a JSON pointer of "cases" or "sweep"; null if there is none.
const Type* type_at(const std::string& pointer);

}  // namespace speclab
