// Tables of probabilities in files of numbers.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/run/model_file.hpp"

namespace speclab {

/// The content of a file.
using TableText = std::string (*)(const ContextRows& rows);

/// By the extension: .csv (one row per line), .json (a list of rows), .npy (float64 [contexts, V]), .npz (the
/// same as array "rows"). Numbers have all their digits. Throws UsageError for another extension.
TableText table_text(const std::filesystem::path& file);

}  // namespace speclab
