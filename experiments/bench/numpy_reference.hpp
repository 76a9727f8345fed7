// The same decoding by another program: a plain NumPy implementation, scripts/numpy_reference.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "experiments/bench/model_pairs.hpp"
#include "experiments/bench/sim_result.hpp"

namespace speclab {

/// Sequences of both programs are so many rounds long, from the empty prompt. The rounds of one sequence
/// depend on each other; the test takes the last of each, so that its samples are independent.
inline constexpr std::uint32_t numpy_sequence_rounds = 8;

/// A one-dimensional array as the contents of an .npy file, format version 1.0 (numpy.lib.format): magic,
/// version, length of the header, a header padded to a multiple of 64 bytes, then the numbers, little-endian.
std::string npy(std::span<const double> values);
std::string npy(std::span<const std::int32_t> values);
std::string npy(std::span<const std::int64_t> values);

/// Writes a pair of bigrams as the .npy files that the script reads, named target_*.npy and draft_*.npy:
/// `unigram`, and by context `first`, `count` and `backoff`, and the followers' `tokens` and `probabilities`.
/// std::runtime_error when a file cannot be written.
void write_bigrams(const std::filesystem::path& folder, const NgramModel& target, const NgramModel& draft);

/// Runs the script for `rounds` rounds on a pair of bigrams, in one thread, and compares its accepted lengths
/// with those of the fast engine by a two-sample test. `python` is the path of the interpreter, which is not
/// looked for on the PATH. Skipped when it, NumPy or the script are not
/// there; after a Ctrl-C nothing is measured. std::runtime_error when the script fails.
NumpyRow run_numpy_reference(const PairShape& shape, const BenchPair& pair, std::uint64_t rounds,
                             const std::filesystem::path& python);

}  // namespace speclab
