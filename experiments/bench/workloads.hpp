// Defines the simulator's benchmarks: a pair of models, an engine, and a number of rounds.
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

/// Suffix of the names of rows that decode one sequence at a time.
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
  std::uint64_t fast_rounds;   ///< rounds of the fast engine's fastest workload; others get fewer
  std::uint64_t plain_rounds;  ///< rounds of the slowest workload of the plain engine

  /// Returns the sizes of the full suite, which takes a few minutes: 20 million tokens of text, so that
  /// n-gram tables exceed the caches.
  static SuiteSize full();
  /// Returns sizes for tests, which take seconds: everything fits into caches, and times mean little.
  static SuiteSize brief();
};

/// Returns all workloads. Those with a rule other than token verification are named "PAIR, RULE". If
/// `threads` is more than 1, one row uses so many.
std::vector<BenchWorkload> bench_workloads(const SuiteSize& size, int threads);

/// Returns the rules other than token verification, all with bench_gamma tokens.
std::vector<BenchRule> bench_rules();

/// Return shapes of pairs over `vocab` tokens: stored bigram tables, and trained bigrams.
PairShape stored_shape(std::int32_t vocab = 256);
PairShape bigram_shape(std::int32_t vocab);

/// Returns 64 sequences from the empty prompt, long enough for at least `rounds` rounds in all.
SimulationSize bench_simulation(std::uint64_t rounds);

/// Returns the fast engine's tables for a pair.
const FastPair& tables_of(const BenchWorkload& workload, const BenchPair& pair);

/// Runs one repetition; `pair` is null for a workload without a pair.
Outcome decode(const BenchWorkload& workload, const BenchPair* pair);

}  // namespace speclab
