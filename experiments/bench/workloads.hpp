// Defines the workloads on which the simulator is measured: a pair of models, an engine, and the number of
// rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/model_pairs.hpp"
#include "sim/any_rule.hpp"
#include "sim/simulation_size.hpp"

namespace speclab {

inline constexpr std::int32_t bench_gamma = 5;

enum class BenchEngine { fast, iid, plain };

/// The part of a row's name after its pair's that marks decoding of one sequence at a time.
inline constexpr const char* one_stream = "1 stream";

struct BenchRule {
  std::string name;
  AnyRule rule;
};

struct BenchWorkload {
  std::string name;
  BenchEngine engine;
  std::optional<PairShape> pair;  ///< empty for i.i.d. rounds
  std::uint64_t rounds;           ///< rounds of one repetition
  std::size_t streams = 1;        ///< sequences that one thread of the fast engine decodes in turn
  int threads = 1;
  std::optional<BenchRule> rule = std::nullopt;  ///< empty: token verification
};

/// Sizes of texts and vocabularies, and lengths of repetitions.
struct SuiteSize {
  std::size_t text_bytes;
  std::int32_t small_vocab;
  std::int32_t large_vocab;
  std::int32_t stored_vocab;   ///< vocabulary of the larger of the stored pairs
  std::uint64_t fast_rounds;   ///< rounds of the fast engine at its fastest; slower workloads take a share
  std::uint64_t plain_rounds;  ///< rounds of the plain program at its slowest

  /// Returns 20 million tokens of text, so that n-gram tables exceed the caches; the suite takes a few
  /// minutes.
  static SuiteSize full();
  /// Returns sizes for tests, which take some seconds: nothing exceeds a cache, and times are too short to
  /// mean much.
  static SuiteSize brief();
};

/// Returns all workloads. Those of rules other than token verification are named "PAIR, RULE"; there is a row
/// of `threads` threads if that is more than 1.
std::vector<BenchWorkload> bench_workloads(const SuiteSize& size, int threads);

/// Returns the rules other than token verification, all with bench_gamma tokens.
std::vector<BenchRule> bench_rules();

/// Return the shape of a pair of stored bigrams, and of a pair of n-gram bigrams, with a vocabulary of
/// `vocab`.
PairShape stored_shape(std::int32_t vocab = 256);
PairShape bigram_shape(std::int32_t vocab);

/// Returns a simulation of 64 sequences from the empty prompt, each so long that they have `rounds` rounds
/// together, or a little more.
SimulationSize bench_simulation(std::uint64_t rounds);

/// Returns the prepared tables with which the fast engine decodes a pair.
const FastPair& tables_of(const BenchWorkload& workload, const BenchPair& pair);

/// Runs one repetition; `pair` is the workload's, or null without one.
Outcome decode(const BenchWorkload& workload, const BenchPair* pair);

}  // namespace speclab
