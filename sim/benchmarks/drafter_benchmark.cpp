// What drafting without a model costs, on the words of data/austen.txt and rows of 32,000 tokens: reading a
// settled token, and proposing a row.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/drafters/lookup.hpp"
#include "sim/drafters/suffix_drafter.hpp"
#include "sim/text/corpus.hpp"

namespace speclab {
namespace {

constexpr std::int32_t vocab = 32000;
constexpr std::size_t tokens_a_round = 4;

const std::vector<Token>& words() {
  static const std::vector<Token> tokens =
      load_corpus(SPECLAB_SOURCE_DIR "/data/austen.txt", Tokenization::words, vocab).tokens;
  return tokens;
}

template <RowDrafter D>
void read_all(benchmark::State& state, const D& drafter) {
  const std::vector<Token>& text = words();
  for (auto _ : state) {
    typename D::Memory memory;
    for (std::size_t size = tokens_a_round; size <= text.size(); size += tokens_a_round) {
      drafter.read(memory, std::span(text).first(size));
    }
    benchmark::DoNotOptimize(memory);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

/// Time of proposals alone, in rounds of four settled tokens; `length` is the mean number drafted.
template <RowDrafter D>
void propose_all(benchmark::State& state, const D& drafter) {
  using Clock = std::chrono::steady_clock;
  const std::vector<Token>& text = words();
  std::vector<double> storage;
  std::int64_t proposed = 0;
  std::int64_t rounds = 0;
  for (auto _ : state) {
    typename D::Memory memory;
    std::vector<Token> context;
    const double* one = nullptr;  // where all rows have their 1: their tokens without a search
    Clock::duration spent{};
    while (context.size() + tokens_a_round <= text.size()) {
      const auto next = text.begin() + static_cast<std::ptrdiff_t>(context.size());
      context.insert(context.end(), next, next + tokens_a_round);
      drafter.read(memory, context);
      const std::size_t settled = context.size();
      const Clock::time_point start = Clock::now();
      for (std::int32_t position = 0;; ++position) {
        const Row row = drafter.propose(memory, context, position, storage);
        if (row.size == 0) break;
        if (one == nullptr) one = row.probabilities + argmax(row);
        context.push_back(static_cast<Token>(one - row.probabilities));
      }
      spent += Clock::now() - start;
      proposed += static_cast<std::int64_t>(context.size() - settled);
      ++rounds;
      context.resize(settled);
    }
    state.SetIterationTime(std::chrono::duration<double>(spent).count());
  }
  state.SetItemsProcessed(proposed);
  state.counters["length"] = static_cast<double>(proposed) / static_cast<double>(rounds);
}

const LookupDrafter& lookup() {
  static const LookupDrafter drafter(vocab);
  return drafter;
}

const SuffixDrafter& suffixes() {
  static const SuffixDrafter drafter(vocab);
  return drafter;
}

void lookup_read(benchmark::State& state) { read_all(state, lookup()); }
void lookup_propose(benchmark::State& state) { propose_all(state, lookup()); }
void suffix_read(benchmark::State& state) { read_all(state, suffixes()); }
void suffix_propose(benchmark::State& state) { propose_all(state, suffixes()); }
BENCHMARK(lookup_read)->Unit(benchmark::kMillisecond);
BENCHMARK(lookup_propose)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(suffix_read)->Unit(benchmark::kMillisecond);
BENCHMARK(suffix_propose)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace speclab
