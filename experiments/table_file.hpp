// Rows of probabilities from a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace speclab {

/// Rows from a .csv (one row a line, commas between probabilities) or .json (array of arrays of numbers)
/// file. Throws ConfigError at `path`, naming the file and line.
std::vector<std::vector<double>> read_table_file(const std::filesystem::path& file, const std::string& path);

}  // namespace speclab
