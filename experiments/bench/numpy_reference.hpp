// Compares the simulator with another program, a plain NumPy implementation of the same decoding:
// scripts/numpy_reference.py.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "experiments/bench/model_pairs.hpp"
#include "experiments/bench/sim_result.hpp"

namespace speclab {

/// The number of rounds of each sequence, in both programs, from the empty prompt. The rounds of one sequence
/// depend on each other; the test uses the last round of each, so that its samples are independent.
inline constexpr std::uint32_t numpy_sequence_rounds = 8;

/// Writes the bigrams of a `side`, target or draft, as .npy files that the script reads. They are named
/// side_*.npy: `unigram`; by context `first`, `count` and `backoff`; and the followers' `tokens` and
/// `probabilities`. Throws std::runtime_error if a file cannot be written.
void write_bigram(const std::filesystem::path& folder, const std::string& side, const NgramModel& model);

/// Runs the script for `rounds` rounds on a pair of bigrams, in one thread, and compares its accepted lengths
/// with those of the fast engine by a two-sample test. `python` is the path of the interpreter; PATH is not
/// searched. The row is skipped if the interpreter, NumPy or the script is missing. Throws std::runtime_error
/// if the script fails.
NumpyRow run_numpy_reference(const PairShape& shape, const BenchPair& pair, std::uint64_t rounds,
                             const std::filesystem::path& python);

}  // namespace speclab
