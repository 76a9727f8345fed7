// Reads a model from a file or a config, and writes models to files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

struct Config;

/// Reads a model from .arpa, or a table from .csv, .json, .npy or .npz. Throws ConfigError and UsageError.
BuiltModel model_from_file(const std::string& file, ModelFactory& factory);

/// Returns the target or draft of a config of one cell, with its sampling options. Throws ConfigError.
BuiltModel model_of_config(const Config& config, bool draft, ModelFactory& factory);

/// A row for each context within the model's memory. Contexts are numbered in base V, the most recent token
/// being the lowest digit.
struct ContextRows {
  std::size_t vocab = 0;
  std::vector<double> probabilities;  ///< one row after the other
};
/// Returns a model's rows. Throws UsageError if they do not depend on a known number of tokens, and above
/// 2^26 numbers.
ContextRows rows_of(const Model& model);

/// Returns the content of a file with these rows.
using TableText = std::string (*)(const ContextRows& rows);
/// Returns the writer for the extension: .csv (one row per line), .json (a list of rows), .npy (float64
/// [contexts, V]). Numbers have all their digits. Throws UsageError for another extension.
TableText table_text(const std::filesystem::path& file);

/// Writes a model in the format of the extension: .arpa, .csv, .json, .npy. ARPA holds an n-gram model
/// unchanged, another model as n-grams of all its contexts. Without a vocabulary, tokens are named t0, t1,
/// ... Throws UsageError, before touching the file, for other extensions and models that are too large.
void write_model(const BuiltModel& built, const std::filesystem::path& file);

}  // namespace speclab
