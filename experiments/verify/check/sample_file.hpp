// Reads sequences emitted by another program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/token.hpp"

namespace speclab {

/// Returns the first `length` tokens of every sequence of a file, concatenated. The file holds JSON lines,
/// each a list of ids or {"tokens": [...]}; or (.npy) a NumPy array of integers, one sequence per row; or
/// (.npz) one such array. Throws ConfigError, naming the line or row, for anything else, for shorter
/// sequences, and for ids outside [0, vocab).
std::vector<Token> read_samples(const std::filesystem::path& file, std::size_t length, std::int32_t vocab);

}  // namespace speclab
