// The config that a verb is given, as its options change it.
#pragma once

#include <memory>
#include <string>

#include "experiments/base/command/verb.hpp"

namespace speclab {

struct Config;

/// The config of a file with --seed and --set applied; its title says what --set changed. Files that it names
/// are looked for in the working folder, beside the config, and among those that come with the program.
std::shared_ptr<const Config> load_config(const std::string& file, const Values& values);

}  // namespace speclab
