// Runs a config and writes its results: the part that run, sweep, compare and merge share.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/base/command/verb.hpp"

namespace speclab {

struct Config;
struct RunResult;

/// Returns the changes as a suffix for a folder, "-gamma=3-seed=2". Different changes may give the same
/// suffix; a folder that holds another config's result is refused later.
std::string changes_in_name(const Words& changes);

/// Writes the files and the report of a result, whose timings have the command that reproduces it, and prints
/// it according to --json, --quiet and --csv-marked.
void write_and_print(const RunResult& run, const Values& values, const std::filesystem::path& folder);

/// Runs the config or one shard of it, writes its folder and prints its table. `check` may refuse the config.
/// Returns the exit code.
int run_and_write(const Values& values, const char* verb, void (*check)(const Config& config));

}  // namespace speclab
