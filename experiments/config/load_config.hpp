// Loads the config that a verb is given, with the changes of the verb's options.
#pragma once

#include <memory>
#include <string>

#include "experiments/base/command/verb.hpp"

namespace speclab {

struct Config;

/// Returns the config of a file with --seed and --set applied; its title mentions the changes by --set. Files
/// that it names are looked for in the working folder, in the config's folder, and among the files that come
/// with the program. Of one among many, --set changes only what the experiment reads.
std::shared_ptr<const Config> load_config(const std::string& file, const Values& values,
                                          bool one_of_many = false);

}  // namespace speclab
