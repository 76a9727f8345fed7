// How fast an n-gram model is trained from 100 MB of text on one thread, splitting, counting, interpolating
// and indexing included, and what limits it: misses in the caches, and pages touched for the first time.
//
// - Words to ids, the same for every model, are more than half of the time at orders 2 and 3. Splitting is a
//   sixth of that; the rest looks words up in a table that does not fit into the caches.
// - Counting is radix sorts. At orders 2 and 3 a key of 8 bytes is enough; at order 5 it takes 16, and up to
//   nine passes over them.
// - Interpolation reads one probability of the order below for each n-gram, wherever it lies, and the index
//   writes one slot a context.
// - A fifth of processor time is the system's at order 5: it clears the memory that is handed out.
//
// The largest of them needs 2 GiB beside the text.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/models/kneser_ney.hpp"
#include "sim/text/corpus.hpp"
#include "sim/text/made_text.hpp"

namespace speclab {
namespace {

constexpr std::size_t text_bytes = 100'000'000;

/// 25 million tokens; at a cap of 262,144 they make 4, 9, 14 and 19 million distinct n-grams of 2 to 5.
const std::string& text_for_training() {
  static const std::string text = made_text(text_bytes);
  return text;
}

/// By vocabulary cap and order. `bytes_per_second` counts the text.
void training(benchmark::State& state) {
  const std::string& text = text_for_training();
  for (auto _ : state) {
    const Corpus corpus = make_corpus(text, Tokenization::words, static_cast<std::int32_t>(state.range(0)));
    const NgramModel model =
        train_kneser_ney(corpus.tokens, corpus.vocabulary.size(), static_cast<int>(state.range(1)));
    std::size_t contexts = 0;
    for (int length = 1; length < model.order(); ++length) contexts += model.contexts(length);
    state.counters["contexts"] = static_cast<double>(contexts);
    state.counters["model_bytes"] = static_cast<double>(model.bytes());
    state.counters["tokens"] = static_cast<double>(corpus.tokens.size());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(training)
    ->ArgsProduct({{32768, 262144}, {2, 3, 5}})
    ->ArgNames({"vocabulary", "order"})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// The first stage alone: splitting, the vocabulary, ids.
void words_to_ids(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(make_corpus(text_for_training(), Tokenization::words, 262144));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text_for_training().size()));
}
BENCHMARK(words_to_ids)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace speclab
