// What the simulator is measured on: a pair of models, an engine, and how much of it.
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

/// What a row of one sequence at a time is called, after its pair's name.
inline constexpr const char* one_stream = "1 stream";

struct BenchRule {
  std::string name;
  AnyRule rule;
};

struct BenchWorkload {
  std::string name;
  BenchEngine engine;
  std::optional<PairShape> pair;  ///< none for i.i.d. rounds
  std::uint64_t rounds;           ///< of one repetition
  std::size_t streams = 1;        ///< sequences that one thread of the fast engine decodes in turn
  int threads = 1;
  std::optional<BenchRule> rule = std::nullopt;  ///< none: token verification
};

/// How large: what the text measures and how long a repetition is.
struct SuiteSize {
  std::size_t text_bytes;
  std::int32_t small_vocab;
  std::int32_t large_vocab;
  std::int32_t stored_vocab;   ///< of the larger of the stored pairs
  std::uint64_t fast_rounds;   ///< of the fast engine at its fastest; slower workloads take a share
  std::uint64_t plain_rounds;  ///< of the plain program at its slowest

  /// 20 million tokens of text, so that n-gram tables are larger than caches; a few minutes.
  static SuiteSize full();
  /// Some seconds, for tests: nothing is larger than a cache, and times are too short to mean much.
  static SuiteSize brief();
};

/// All of them, those of other rules named "PAIR, RULE", with a row of `threads` threads when that is more
/// than 1.
std::vector<BenchWorkload> bench_workloads(const SuiteSize& size, int threads);

/// Rules other than token verification, all of bench_gamma tokens.
std::vector<BenchRule> bench_rules();

PairShape stored_shape(std::int32_t vocab = 256);
PairShape bigram_shape(std::int32_t vocab);

/// 64 sequences, from the empty prompt, of as many rounds as add up to `rounds` or a little more.
SimulationSize bench_simulation(std::uint64_t rounds);

/// What the fast engine decodes of a pair, prepared.
const FastPair& tables_of(const BenchWorkload& workload, const BenchPair& pair);

/// One repetition; `pair` is the workload's, or null without one.
Outcome decode(const BenchWorkload& workload, const BenchPair* pair);

}  // namespace speclab
