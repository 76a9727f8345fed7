// Takes a model from a config, and writes n-gram models to files.
#pragma once

#include <filesystem>

#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

struct Config;

/// Returns the target or draft of a config of one cell, with its sampling options. Throws ConfigError.
BuiltModel model_of_config(const Config& config, bool draft, ModelFactory& factory);

/// Writes an n-gram model unchanged as an ARPA file. Throws UsageError for another model.
void write_arpa_file(const BuiltModel& built, const std::filesystem::path& file);

}  // namespace speclab
