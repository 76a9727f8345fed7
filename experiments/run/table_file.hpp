// Tables of probabilities in files of numbers.
#pragma once

#include <filesystem>

#include "experiments/run/model_file.hpp"

namespace speclab {

using TableWriter = void (*)(const ContextRows& rows, const std::filesystem::path& file);

/// By the extension: .csv (one row per line), .json (a list of rows), .npy (float64 [contexts, V]), .npz (the
/// same as array "rows"). Numbers have all their digits. Throws UsageError for another extension.
TableWriter table_writer(const std::filesystem::path& file);

}  // namespace speclab
