// What run, sweep, compare, submit and merge have in common: running a config, and writing what it gave.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/base/command/verb.hpp"
#include "experiments/run/backend.hpp"

namespace speclab {

struct Config;
struct RunResult;

/// "-gamma=3-seed=2": the changes as the end of a folder's name, so that a variation has a folder of its own.
/// Different changes may give the same name; a folder of another config is refused.
std::string changes_in_name(const Words& changes);

/// --out, or out/NAME after the config's file and what --set and --seed change in it. Throws UsageError for a
/// file whose name names no folder.
std::filesystem::path run_folder(const Values& values, const std::string& file);

/// Writes the files and the report of a result, which `command` gives, and prints it as --json, --quiet and
/// --csv-marked say.
void write_and_print(const RunResult& run, const Values& values, const std::filesystem::path& folder,
                     const std::string& command, Backend backend = Backend::cpu);

/// Runs the config, or a shard of it, writes its folder, prints its table. `check` may refuse a config.
int run_and_write(const Values& values, const char* verb, void (*check)(const Config& config));

}  // namespace speclab
