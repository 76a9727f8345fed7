// Reads a model from a file or a config, and writes models to files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

struct Config;

/// Returns a model from its own file: .arpa, or a table (.csv, .json, .npy, .npz). Throws ConfigError and
/// UsageError.
BuiltModel model_from_file(const std::string& file, ModelFactory& factory);

/// Returns the target or the draft of a config of one cell, with its sampling options. Throws ConfigError.
BuiltModel model_of_config(const Config& config, bool draft, ModelFactory& factory);

/// The rows of every context of the model's memory. Contexts are numbered in base V, with the most recent
/// token as the lowest digit.
struct ContextRows {
  std::size_t vocab = 0;
  std::vector<double> probabilities;  ///< one row after the other
};
/// Returns the rows of a model. Throws UsageError if its rows do not depend on a known number of tokens, and
/// for more than 2^26 numbers.
ContextRows rows_of(const Model& model);

/// Returns the content of a file with these rows.
using TableText = std::string (*)(const ContextRows& rows);
/// Returns the writer for the extension: .csv (one row per line), .json (a list of rows), .npy (float64
/// [contexts, V]). Numbers have all their digits. Throws UsageError for another extension.
TableText table_text(const std::filesystem::path& file);

/// Writes a model in the format of the extension: .arpa, .csv, .json, .npy. An ARPA file holds an
/// n-gram model unchanged, and another model as n-grams of all its contexts. Without a vocabulary, tokens are
/// called t0, t1, ... Throws UsageError for another extension and for models that are too large, before
/// touching the file.
void write_model(const BuiltModel& built, const std::filesystem::path& file);

}  // namespace speclab
