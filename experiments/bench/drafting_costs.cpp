#include "experiments/bench/drafting_costs.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <span>

#include "core/distribution/row.hpp"
#include "core/stop.hpp"
#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/model_pairs.hpp"
#include "sim/drafters/lookup.hpp"
#include "sim/drafters/suffix_drafter.hpp"
#include "sim/text/corpus.hpp"
#include "sim/text/made_text.hpp"

namespace speclab {

namespace {

constexpr std::int32_t bench_vocab = 32000;
constexpr std::size_t tokens_a_round = 4;

/// Nanoseconds per token, one entry for each repetition.
struct Samples {
  std::vector<double> read;
  std::vector<double> propose;
  double mean_length = 0;
};

template <class Drafter>
void measure_reading(const Drafter& drafter, std::span<const Token> text, Samples& samples) {
  const double start = thread_seconds();
  typename Drafter::Memory memory;
  for (std::size_t size = tokens_a_round; size <= text.size(); size += tokens_a_round) {
    drafter.read(memory, text.first(size));
  }
  benchmark::DoNotOptimize(memory);
  samples.read.push_back(1e9 * (thread_seconds() - start) / static_cast<double>(text.size()));
}

/// Measures the time of proposals alone.
template <class Drafter>
void measure_proposing(const Drafter& drafter, std::span<const Token> text, Samples& samples) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> storage;
  std::size_t proposed = 0;
  std::size_t rounds = 0;
  typename Drafter::Memory memory;
  std::vector<Token> context;
  const double* one = nullptr;  // address of the 1 of all rows, which gives their tokens without a search
  Clock::duration spent{};
  while (context.size() + tokens_a_round <= text.size()) {
    const std::span<const Token> next = text.subspan(context.size(), tokens_a_round);
    context.insert(context.end(), next.begin(), next.end());
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
    proposed += context.size() - settled;
    ++rounds;
    context.resize(settled);
  }
  samples.propose.push_back(std::chrono::duration<double, std::nano>(spent).count() /
                            static_cast<double>(proposed));
  samples.mean_length = static_cast<double>(proposed) / static_cast<double>(rounds);
}

DraftingRow row_of(const std::string& name, const Samples& samples) {
  return {name, median(samples.read), median(samples.propose), samples.mean_length};
}

}  // namespace

std::vector<std::string> drafting_names() {
  return {"drafting: prompt lookup", "drafting: suffix automaton"};
}

std::vector<DraftingRow> drafting_costs(std::size_t text_bytes, int repetitions) {
  const Corpus corpus = make_corpus(made_text(text_bytes), Tokenization::words, bench_vocab);
  const LookupDrafter lookup(bench_vocab);
  const SuffixDrafter suffixes(bench_vocab);
  Samples of_lookup;
  Samples of_suffixes;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    end_if_stopped();
    measure_reading(lookup, corpus.tokens, of_lookup);
    measure_proposing(lookup, corpus.tokens, of_lookup);
    measure_reading(suffixes, corpus.tokens, of_suffixes);
    measure_proposing(suffixes, corpus.tokens, of_suffixes);
  }
  const std::vector<std::string> names = drafting_names();
  return {row_of(names[0], of_lookup), row_of(names[1], of_suffixes)};
}

}  // namespace speclab
