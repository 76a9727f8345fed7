// How configs stand in JSON, for those that need not know what is in a Config.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/format/type.hpp"

namespace speclab {

struct Config;

/// The description of the whole format. Kinds, experiments and sections are registered before its first use.
const Typed<Config>& config_type();
/// The same of a config that results share.
template <>
const Typed<std::shared_ptr<const Config>>& described();

/// With every default.
Json config_json(const Config& config);

/// The type at a JSON pointer below the config, as "cases" and "sweep" name it, null when there is none; the
/// pointer's steps get their present names.
const Type* type_at(std::string& pointer);

/// A config as JSON with present names: aliases of keys, kinds and metrics replaced, also in the paths and
/// values of "cases" and "sweep". `uses` receives what was replaced.
Json with_present_names(const Json& input, std::vector<RenamedUse>& uses);
/// A JSON pointer into a config with present names.
std::string with_present_names(const std::string& pointer);

}  // namespace speclab
