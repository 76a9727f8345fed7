// The same decoding by another program: a plain NumPy implementation, scripts/numpy_reference.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "experiments/bench/model_pairs.hpp"
#include "experiments/format/shape.hpp"

namespace speclab {

/// Sequences of both programs are so many rounds long, from the empty prompt. The rounds of one sequence
/// depend on each other; the test takes the last of each, so that its samples are independent.
inline constexpr std::uint32_t numpy_sequence_rounds = 8;

/// Writes a pair of bigrams as the .npy files that the script reads, named target_*.npy and draft_*.npy:
/// `unigram`, and by context `first`, `count` and `backoff`, and the followers' `tokens` and `probabilities`.
/// std::runtime_error when a file cannot be written.
void write_bigrams(const std::filesystem::path& folder, const NgramModel& target, const NgramModel& draft);

/// Runs the script for `rounds` rounds on a pair of bigrams, in one thread, and holds its accepted lengths
/// against those of the fast engine by a two-sample test. The keys are "name", and "skipped" with the reason
/// when python3, NumPy or the script are not there; else "rounds", "emitted", "seconds" (processor time of
/// decoding), "tokens_per_second", "accepted_lengths", "test". After a Ctrl-C "name"
/// alone. std::runtime_error when the script fails.
Json run_numpy_reference(const PairShape& shape, const ModelPair& pair, std::uint64_t rounds);

}  // namespace speclab
