// The measurements of `speclab bench sim` as plain structs, from which its JSON, tables and figure are made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"

namespace speclab {

/// The times of random reads from memory of this size.
struct ReadLimit {
  std::size_t bytes = 0;
  double latency_ns = 0;    ///< each read depends on the one before
  double in_flight_ns = 0;  ///< independent reads, ReadMemory::in_flight at a time
};

/// The limits of the machine on one thread.
struct MachineLimits {
  std::string instruction_set;  ///< used by philox_blocks
  double block_ns = 0;          ///< a Philox block by philox_blocks
  double scalar_block_ns = 0;
  std::optional<std::size_t> sequential_bytes;  ///< empty without memory to read
  std::optional<double> sequential_bytes_per_second;
  std::vector<ReadLimit> reads;
};

/// The cost of making a pair of models once, on one thread.
struct PreparationRow {
  std::string name;
  std::size_t text_bytes = 0;  ///< 0: not trained
  std::size_t tokens = 0;
  double corpus_seconds = 0;
  double training_seconds = 0;
  double preparing_seconds = 0;  ///< to make the fast engine's tables
  std::size_t contexts = 0;
  std::size_t table_bytes = 0;
  std::optional<double> text_bytes_per_second;
};

/// A run of a given length.
struct LengthRow {
  std::string name;
  std::uint64_t tokens = 0;
  std::uint64_t peak_bytes = 0;
  double ns_per_token = 0;  ///< median
  double best_ns_per_token = 0;
  int repetitions = 1;
};

/// The time that the limits give for a row, in nanoseconds per token.
struct TimeBound {
  double random_ns_per_token = 0;
  double reads_ns_per_token = 0;
  double sum_ns_per_token = 0;
  double larger_ns_per_token = 0;
  double ratio_to_sum = 0;  ///< measured time over the bound
  double ratio_to_larger = 0;
};

/// Counts per token on the fast or i.i.d. engine.
struct TokenCounts {
  double random_numbers = 0;
  double reads = 0;
  double passes = 0;  ///< residuals drawn by a pass over the vocabulary
};

struct TableSizes {
  std::size_t streams = 1;  ///< sequences that one thread decodes in turn
  std::size_t table_bytes = 0;
  std::size_t contexts = 0;
  double bytes_per_context = 0;
};

struct WorkloadRow {
  std::string name;
  int threads = 1;
  std::string clock;  ///< clock of `seconds`: "processor", or "wall" with several threads
  std::vector<double> seconds;
  std::vector<double> wall_seconds;
  double spread = 0;  ///< interquartile range over the median
  std::uint64_t tokens = 0;
  std::uint64_t rounds = 0;
  double tokens_per_second = 0;
  double rounds_per_second = 0;
  double ns_per_token = 0;
  std::optional<double> cache_misses_per_token;  ///< empty if they cannot be counted
  std::optional<TokenCounts> per_token;          ///< empty for the plain program
  std::optional<TableSizes> tables;              ///< empty without tables
  std::optional<TimeBound> bound;                ///< for one thread of the fast or i.i.d. engine
};

/// A drafter that runs no model.
struct DraftingRow {
  std::string name;
  double read_ns_per_token = 0;     ///< per settled token
  double propose_ns_per_token = 0;  ///< per drafted token
  double mean_length = 0;           ///< drafted tokens per round
};

struct RatioRow {
  std::string name;
  double ratio = 0;
};

/// The test whether NumPy and the fast engine accept equally many tokens.
struct NumpyTest {
  std::vector<std::uint64_t> fast_accepted_lengths;
  double pearson = 0;
  int degrees = 0;
  double p = 1;
};

/// The output of scripts/numpy_reference.py.
struct NumpyOutput {
  std::uint64_t rounds = 0;
  std::uint64_t emitted = 0;
  double seconds = 0;  ///< processor time of decoding
  std::vector<std::uint64_t> accepted_lengths;
};

struct NumpyMeasurement {
  NumpyOutput output;
  double tokens_per_second = 0;
  NumpyTest test;
  std::optional<double> fast_over_numpy;  ///< empty unless the same pair was measured
};

struct NumpyRow {
  std::string name;
  std::optional<std::string> skipped;        ///< the reason
  std::optional<NumpyMeasurement> measured;  ///< empty if skipped
};

struct SimReport {
  std::string version;
  std::string machine;
  std::string command;
  bool quick = false;  ///< --quick: sizes too small to mean much
  std::int32_t gamma = 0;
  int repetitions = 0;
  std::size_t text_bytes = 0;
  std::vector<LengthRow> lengths;
  std::vector<PreparationRow> preparation;
  MachineLimits limits;
  std::vector<WorkloadRow> workloads;
  std::vector<RatioRow> comparisons;
  std::vector<DraftingRow> drafting;
  std::optional<NumpyRow> numpy;
};

template <>
const Typed<NumpyOutput>& described();
template <>
const Typed<SimReport>& described();

}  // namespace speclab
