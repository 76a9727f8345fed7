#include "experiments/bench/workloads.hpp"

#include <fmt/format.h>

#include "core/rules/all_rules.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/support/interrupt.hpp"
#include "experiments/base/support/machine.hpp"
#include "sim/decode.hpp"
#include "sim/fast/iid_decode.hpp"

namespace speclab {

SuiteSize SuiteSize::full() {
  return {.text_bytes = 80'000'000,
          .small_vocab = 32768,
          .large_vocab = 262144,
          .stored_vocab = 4096,
          .fast_rounds = 4'000'000,
          .plain_rounds = 320};
}

SuiteSize SuiteSize::brief() {
  return {.text_bytes = 1'000'000,
          .small_vocab = 2048,
          .large_vocab = 16384,
          .stored_vocab = 512,
          .fast_rounds = 64'000,
          .plain_rounds = 64};
}

std::vector<BenchRule> bench_rules() {
  return {{"block", BlockRule{}},
          {"scheduled, block", ScheduledRule(0.1, true)},
          {"cascade", CascadeRule{}},
          {"gumbel", GumbelRule{}},
          {"recursive, 4 drafts", RecursiveRule(4)},
          {"k-seq, 4 drafts", KSeqRule(4)},
          {"tree 4-2-1-1-1", TreeRule(branching_tree({4, 2, 1, 1, 1}))},
          {"traversal 4-2-1-1-1", TraversalRule(branching_tree({4, 2, 1, 1, 1}))}};
}

PairShape stored_shape(std::int32_t vocab) {
  return {fmt::format("stored bigrams, V = {}", grouped(static_cast<std::uint64_t>(vocab))), vocab, 0, 0};
}

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
  const PairShape stored_large = stored_shape(size.stored_vocab);
  const std::uint64_t rounds = size.fast_rounds;
  std::vector<BenchWorkload> all;
  const auto fast = [&](const PairShape& pair, std::uint64_t share) {
    all.push_back({pair.name, BenchEngine::fast, pair, rounds / share, default_streams});
  };
  const auto one_at_a_time = [&](const PairShape& pair, std::uint64_t share) {
    all.push_back({fmt::format("{}: {}", pair.name, one_stream), BenchEngine::fast, pair, rounds / share});
  };
  const auto plain = [&](const PairShape& pair, std::uint64_t some) {
    all.push_back({pair.name + ": plain program", BenchEngine::plain, pair, some});
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
  fast(stored_large, 4);
  plain(stored_large, 8 * size.plain_rounds);
  for (const BenchRule& rule : bench_rules()) {
    const auto both = [&](const PairShape& pair, std::uint64_t share, std::uint64_t some) {
      const std::string name = fmt::format("{}, {}", pair.name, rule.name);
      all.push_back({name, BenchEngine::fast, pair, rounds / share, default_streams, 1, rule});
      if (some == 0) return;
      all.push_back({name + ": plain program", BenchEngine::plain, pair, some, 1, 1, rule});
    };
    both(stored, 16, 64 * size.plain_rounds);
    both(stored_large, 32, 2 * size.plain_rounds);
    both(small, 64, size.plain_rounds / 5);
    both(fivegram, 128, size.plain_rounds / 5);
    both(large, 64, 0);
  }
  all.push_back({"i.i.d. rounds, alpha = 0.8", BenchEngine::iid, std::nullopt, 16 * rounds});
  return all;
}

SimulationSize bench_simulation(std::uint64_t rounds) {
  SimulationSize simulation;
  simulation.trials = 64;
  simulation.length = static_cast<std::uint32_t>((rounds + simulation.trials - 1) / simulation.trials);
  return simulation;
}

const FastPair& tables_of(const BenchWorkload& workload, const BenchPair& pair) {
  return workload.rule ? *pair.by_rule.at(workload.rule->name) : *pair.tables;
}

Outcome decode(const BenchWorkload& workload, const BenchPair* pair) {
  const ThreadLimit limit(workload.threads);
  const Control control{.stop = interrupted};
  const SimulationSize simulation = bench_simulation(workload.rounds);
  switch (workload.engine) {
    case BenchEngine::fast:
      return tables_of(workload, *pair).decode(bench_gamma, simulation, control, workload.streams);
    case BenchEngine::iid:
      return decode_iid(0.8, bench_gamma, simulation, control);
    case BenchEngine::plain:
      break;
  }
  return decode_speculatively(pair->target, pair->draft,
                              workload.rule ? workload.rule->rule : AnyRule(TokenRule{}), bench_gamma,
                              simulation, control);
}

}  // namespace speclab
