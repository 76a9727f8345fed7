// A model from a file or a config, and models written to files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/catalog/models/model_factory.hpp"

namespace speclab {

struct Config;

/// A model from a file of its own: .arpa, or a table (.csv, .json, .npy, .npz). Throws ConfigError and
/// UsageError.
BuiltModel model_from_file(const std::string& file, ModelFactory& factory);

/// The target or the draft of a config of one cell, with its sampling options. Throws ConfigError.
BuiltModel model_of_config(const Config& config, bool draft, ModelFactory& factory);

/// Rows of every context of the model's memory, contexts counted in base V with the most recent token as the
/// lowest digit.
struct ContextRows {
  std::size_t vocab = 0;
  std::vector<double> probabilities;  ///< row after row
};
/// Throws UsageError for a model whose rows depend on no known number of tokens, and for more than 2^26
/// numbers.
ContextRows rows_of(const Model& model);

/// The content of a file of such rows.
using TableText = std::string (*)(const ContextRows& rows);
/// By the extension: .csv (one row per line), .json (a list of rows), .npy
/// (float64 [contexts, V]), .npz (the same as array "rows"). Numbers have all their digits. Throws UsageError
/// for another extension.
TableText table_text(const std::filesystem::path& file);

/// By the extension: .arpa, .csv, .json, .npy, .npz. ARPA files take n-gram models as they are, and other
/// models as n-grams of all their contexts. Without a vocabulary, tokens are called t0, t1, ... Throws
/// UsageError for another extension and for models that are too large, before the file is touched.
void write_model(const BuiltModel& built, const std::filesystem::path& file);

}  // namespace speclab
