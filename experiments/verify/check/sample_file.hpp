// Reads sequences that another program's sampler emitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/token.hpp"

namespace speclab {

/// Returns the first `length` tokens of every sequence of a file, one sequence after the other. The file
/// holds JSON lines, each a list of ids or {"tokens": [...]}, or (by its extension .npy) a NumPy array of
/// integers with one sequence per row, or (.npz) an archive with one such array. Throws ConfigError, which
/// names the line or row, for anything else, for sequences that are too short, and for ids outside [0,
/// vocab).
std::vector<Token> read_samples(const std::filesystem::path& file, std::size_t length, std::int32_t vocab);

}  // namespace speclab
