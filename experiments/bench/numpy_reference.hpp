// The same decoding by another program: a plain NumPy implementation, scripts/numpy_reference.py.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "experiments/bench/model_pairs.hpp"
#include "experiments/bench/sim_result.hpp"

namespace speclab {

/// Sequences of both programs are so many rounds long, from the empty prompt. The rounds of one sequence
/// depend on each other; the test takes the last of each, so that its samples are independent.
inline constexpr std::uint32_t numpy_sequence_rounds = 8;

/// Writes the bigrams of a `side`, target or draft, as the .npy files that the script reads, named
/// side_*.npy: `unigram`, and by context `first`, `count` and `backoff`, and the followers' `tokens` and
/// `probabilities`. std::runtime_error when a file cannot be written.
void write_bigram(const std::filesystem::path& folder, const std::string& side, const NgramModel& model);

/// Runs the script for `rounds` rounds on a pair of bigrams, in one thread, and compares its accepted lengths
/// with those of the fast engine by a two-sample test. `python` is the path of the interpreter, which is not
/// looked for on the PATH. Skipped when it, NumPy or the script are not there. std::runtime_error when the
/// script fails.
NumpyRow run_numpy_reference(const PairShape& shape, const BenchPair& pair, std::uint64_t rounds,
                             const std::filesystem::path& python);

}  // namespace speclab
