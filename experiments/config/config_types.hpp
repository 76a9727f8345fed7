// How configs stand in JSON, for those that need not know what is in a Config.
#pragma once

#include <memory>
#include <string>

#include "experiments/base/format/type.hpp"

namespace speclab {

struct Config;

/// The description of the whole format. Kinds, experiments and sections are registered before its first use.
const Typed<Config>& config_type();
/// The same of a config that results share.
template <>
const Typed<std::shared_ptr<const Config>>& described();

/// With every default.
Json config_json(const Config& config);

/// The type at a JSON pointer below the config, as "cases" and "sweep" name it, null when there is none.
const Type* type_at(const std::string& pointer);

}  // namespace speclab
