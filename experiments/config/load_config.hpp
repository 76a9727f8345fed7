// Loads the config that a verb is given, with the changes of the verb's options.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "experiments/base/command/verb.hpp"

namespace speclab {

struct Config;

/// Returns the config of a file with --seed and --set applied; its title mentions the changes by --set. Files
/// that it names are looked for in the working folder, in the config's folder, and among the files that come
/// with the program. Throws UsageError if --set changes what the sweep or every case sets.
/// With `read_of_many` this is one of many configs: --set changes only what this one reads, which is added to
/// it.
std::shared_ptr<const Config> load_config(const std::string& file, const Values& values,
                                          std::set<std::string>* read_of_many = nullptr);

}  // namespace speclab
