#include "experiments/bench/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/page/cells.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/machine.hpp"
#include "sim/decode.hpp"
#include "sim/fast/iid_decode.hpp"

namespace speclab {

SuiteSize SuiteSize::full() {
  return {.text_bytes = 80'000'000,
          .small_vocab = 32768,
          .large_vocab = 262144,
          .fast_rounds = 4'000'000,
          .plain_rounds = 320,
          .least_exponent = 6,
          .lengths = 3,
          .numpy_rounds = 8000,
          .drafting_text_bytes = 800'000};
}

SuiteSize SuiteSize::brief() {
  return {.text_bytes = 1'000'000,
          .small_vocab = 2048,
          .large_vocab = 16384,
          .fast_rounds = 64'000,
          .plain_rounds = 64,
          .least_exponent = 4,
          .lengths = 2,
          .numpy_rounds = 800,
          .drafting_text_bytes = 100'000};
}

PairShape stored_shape() { return {"stored bigrams, V = 256", 256, 0, 0}; }

PairShape bigram_shape(std::int32_t vocab) {
  return {fmt::format("n-gram bigrams, V = {}", grouped(static_cast<std::uint64_t>(vocab))), vocab, 2, 2};
}

std::vector<BenchWorkload> bench_workloads(const SuiteSize& size, int threads) {
  const PairShape stored = stored_shape();
  const PairShape small = bigram_shape(size.small_vocab);
  const PairShape large = bigram_shape(size.large_vocab);
  const PairShape fivegram{fmt::format("5-gram target, bigram draft, V = {}",
                                       grouped(static_cast<std::uint64_t>(size.small_vocab))),
                           size.small_vocab, 5, 2};
  const std::uint64_t rounds = size.fast_rounds;
  std::vector<BenchWorkload> all;
  const auto fast = [&](const PairShape& pair, std::uint64_t share) {
    all.push_back({pair.name, BenchEngine::fast, pair, rounds / share, default_streams, 1});
  };
  const auto one_at_a_time = [&](const PairShape& pair, std::uint64_t share) {
    all.push_back(
        {fmt::format("{}: {}", pair.name, one_stream), BenchEngine::fast, pair, rounds / share, 1, 1});
  };
  const auto plain = [&](const PairShape& pair, std::uint64_t some) {
    all.push_back({pair.name + ": plain program", BenchEngine::plain, pair, some, 1, 1});
  };
  fast(stored, 1);
  one_at_a_time(stored, 4);
  if (threads > 1) {
    all.push_back({fmt::format("{}: {} threads", stored.name, threads), BenchEngine::fast, stored, rounds,
                   default_streams, threads});
  }
  plain(stored, 256 * size.plain_rounds);
  fast(small, 4);
  plain(small, size.plain_rounds);
  fast(large, 4);
  one_at_a_time(large, 16);
  fast(fivegram, 8);
  all.push_back({"i.i.d. rounds, alpha = 0.8", BenchEngine::iid, std::nullopt, 16 * rounds, 1, 1});
  return all;
}

SimulationSize bench_simulation(std::uint64_t rounds) {
  SimulationSize simulation;
  simulation.trials = 64;
  simulation.length = static_cast<std::uint32_t>((rounds + simulation.trials - 1) / simulation.trials);
  return simulation;
}

Outcome decode(const BenchWorkload& workload, const BenchPair* pair) {
  const ThreadLimit limit(workload.threads);
  const Control control{.stop = interrupted};
  const SimulationSize simulation = bench_simulation(workload.rounds);
  switch (workload.engine) {
    case BenchEngine::fast:
      return pair->tables->decode(bench_gamma, simulation, control, workload.streams);
    case BenchEngine::iid:
      return decode_iid(0.8, bench_gamma, simulation, control);
    case BenchEngine::plain:
      break;
  }
  return decode_speculatively(pair->target, pair->draft, TokenRule{}, bench_gamma, simulation, control);
}

}  // namespace speclab
